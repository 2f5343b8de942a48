"""Out of the house: TREC, CSV, JSON, the benchmark's own format and one-file HTML reports."""

from evidencebench_core.export.dataset import stream_dataset, write_benchmark
from evidencebench_core.export.findings import findings_document, findings_html, left_out_text, pick_documents
from evidencebench_core.export.run_rows import Row, rows, tasks_of, versions
from evidencebench_core.export.tables import csv_text, write_csv, write_json, write_predictions
from evidencebench_core.export.trec import write_qrels, write_run
