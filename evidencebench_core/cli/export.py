"""Ways out: ``export``, ``export-dataset``, ``notes``."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, TextIO

from typer import Argument, Option

from evidencebench_core.cli.emit import Output, emit, note
from evidencebench_core.cli.frame import Dataset, Json, Out, RunId, StorePath, Tasks, opened, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.export import ExportCounts


@verb()
def export(
    *,
    run_id: RunId,
    format_: Annotated[
        Literal["trec", "qrels", "csv", "json", "predictions"],
        Option(
            "--format",
            help="trec: a TREC run; qrels: TREC diversity qrels with aspects as subtopics, over which StRecall@k of"
            " ir_measures is Aspect Recall; csv: a line a sentence; json: all that is known of the run;"
            " predictions: {id: [sentence index, ...]}",
        ),
    ],
    task: Tasks = None,
    out: Out = None,
    what: Annotated[
        Literal["selection", "ranking"], Option(help="trec, csv: the picks, or all that was ranked")
    ] = "selection",
    text: Annotated[bool, Option("--text", help="csv: sections and sentences too")] = False,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Write a run as TREC, CSV, JSON or predictions.

    What is left out, and why, is said on stderr.

    Example: evidencebench export 3f2a --format trec --task er@10 --out bm25.run
    """
    from evidencebench_core import export as writers
    from evidencebench_core.runs import RunStore, score_run

    _check_json(json, out)
    known = opened(store)
    run = RunStore(known).run(run_id)
    tasks = writers.tasks_of(run, task, several=format_ in ("csv", "json"))
    written: dict[str, ExportCounts] = {}
    with _stream(out) as binary, _as_text(binary) as stream:
        rows = {asked: writers.rows(known, run, asked, with_papers=text) for asked in tasks}
        if format_ == "json":
            scored = ((asked, score_run(known, run.id, asked), rows[asked]) for asked in tasks)
            dataset, versions = known.dataset(run.dataset), writers.versions()
            written = writers.write_json(run, dataset, scored, stream, versions)
        elif format_ == "csv":
            for number, asked in enumerate(tasks):
                header = number == 0
                counts = writers.write_csv(rows[asked], asked, stream, run.id, what, header=header)
                written[asked.name] = counts
        elif format_ == "qrels":
            written[tasks[0].name] = writers.write_qrels(known.evidence_sets(run.dataset), tasks[0], stream)
        elif format_ == "predictions":
            written[tasks[0].name] = writers.write_predictions(rows[tasks[0]], tasks[0], stream)
        else:
            tag = f"{run.retriever}-{run.id}"
            written[tasks[0].name] = writers.write_run(rows[tasks[0]], tasks[0], stream, tag, what)
    _report(written, out, json)


@verb()
def export_dataset(
    name: Annotated[str, Argument(metavar="NAME", help="a dataset in the store")],
    format_: Annotated[
        Literal["benchmark", "qrels"],
        Option("--format", help="the benchmark's own JSON, or its gold as TREC qrels"),
    ] = "benchmark",
    task: Annotated[
        str | None, Option(metavar="T", help="qrels: whose aspects, er@K's (default) or result-er@K's")
    ] = None,
    out: Out = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Write a dataset as released, or its gold as qrels.

    Example: evidencebench export-dataset train --out train.json
    """
    from evidencebench_core.export import stream_dataset, write_qrels
    from evidencebench_core.tasks import task_named

    _check_json(json, out)
    known = opened(store)
    info = known.dataset(name)
    if format_ == "qrels":
        asked = task_named(task or "er@optimal")
        with _stream(out) as binary, _as_text(binary) as stream:
            written = write_qrels(known.evidence_sets(info.name), asked, stream)
        _report({asked.name: written}, out, json)
        return
    if task is not None:
        raise SettingError("--task", "is for qrels", "Leave it out: a dataset file has all tasks.")
    with _stream(out) as binary:
        file = stream_dataset(known, info, binary)
    for instance_id, licence in file.left_out.items():
        note(f"Left out: {instance_id}, of a paper under {licence}, which allows no changed copy")
    note(f"{quantity(file.n_instances, 'instance')}, {file.n_bytes:,} bytes")
    if json:
        emit(Output({"path": str(out), "dataset": info.name} | asdict(file)), json)


@verb()
def notes(
    dataset: Dataset,
    instance: Annotated[
        list[str] | None, Option(metavar="ID", help="only this instance (may be repeated)")
    ] = None,
    flagged: Annotated[bool, Option("--flagged", help="only flags")] = False,
    json: Json = False,
    out: Out = None,
    store: StorePath = None,
) -> None:
    """List the flags and comments on a dataset.

    Of each author the newest on each place; --out writes them as CSV.

    Example: evidencebench notes --dataset train --flagged --out notes.csv
    """
    from evidencebench_core.analyses.notes import dataset_notes

    known = opened(store)
    if instance:
        known.rows(dataset, instance)  # an error where there is none
    emit(dataset_notes(known, dataset, instance, flagged=flagged), json, out)


def _check_json(json: bool, out: Path | None) -> None:
    if json and out is None:
        raise SettingError("--json", "tells what is in a file", "Name the file with --out.")


def _report(written: Mapping[str, ExportCounts], out: Path | None, json: bool) -> None:
    """Say what was written and what was not, task by task: on stderr, and as JSON if asked for."""
    for name, counts in written.items():
        for line in counts.lines():
            note(f"{name}: {line}")
    document: dict[str, Any] = {name: asdict(counts) for name, counts in written.items()}
    if json:
        emit(Output({"path": str(out), "tasks": document}), json)
    elif out is not None:
        note(f"Written to {out}")


@contextmanager
def _stream(out: Path | None) -> Iterator[BinaryIO]:
    """The file, there whole or not at all, or standard output."""
    from evidencebench_core.data.files import whole_file

    if out is not None:
        with whole_file(out) as stream:
            yield stream
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _as_text(stream: BinaryIO) -> Iterator[TextIO]:
    """UTF-8 text into a binary stream, line ends as they are written."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        yield text
    finally:
        text.detach()
