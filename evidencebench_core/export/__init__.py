"""Out of the house: TREC, CSV, JSON, the benchmark's own format, BibTeX, and one-file HTML reports."""

from __future__ import annotations

from evidencebench_core.export.answers import Answer, RunAnswers, tasks_of
from evidencebench_core.export.dataset import BenchmarkFile, export_dataset, stream_dataset, write_benchmark
from evidencebench_core.export.files import whole_file
from evidencebench_core.export.report import (
    ReportInput,
    left_out_text,
    report_html,
    report_of,
    run_html,
)
from evidencebench_core.export.tables import places_and_scores, write_csv, write_json, write_predictions
from evidencebench_core.export.trec import trec_id, write_qrels, write_run
from evidencebench_core.export.used import bibtex, versions
from evidencebench_core.export.written import Written

__all__ = [
    "Answer",
    "BenchmarkFile",
    "ReportInput",
    "RunAnswers",
    "Written",
    "bibtex",
    "export_dataset",
    "left_out_text",
    "places_and_scores",
    "report_html",
    "report_of",
    "run_html",
    "stream_dataset",
    "tasks_of",
    "trec_id",
    "versions",
    "whole_file",
    "write_benchmark",
    "write_csv",
    "write_json",
    "write_predictions",
    "write_qrels",
    "write_run",
]
