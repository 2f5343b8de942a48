"""``evidencebench export RUN --format F`` and ``export-dataset NAME``."""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, TextIO

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.export import ExportCounts
    from evidencebench_core.runs import RunInfo
    from evidencebench_core.tasks import Task

FORMATS: Final = ("trec", "qrels", "csv", "json", "html", "predictions", "bibtex")
_SEVERAL_TASKS: Final = ("csv", "json")
_ONLY_FOR: Final = {  # argument -> the formats it is for
    "what": ("trec", "csv"),
    "instance": ("html",),
    "plain": ("html",),
    "limit": ("html",),
    "text": ("csv",),
    "bom": ("csv",),
}
_INSTANCES: Final = 200  # on the page of a run


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Export a run. trec: a TREC run; qrels: TREC diversity qrels with study aspects as subtopics, over"
        " which StRecall@k of ir_measures is Aspect Recall; csv: a line a sentence; json: settings, versions,"
        " scores, selections and rankings; html: a page of the run, or with --instance the report on one"
        " instance, whole in itself and printable; predictions: {id: [sentence index, ...]}; bibtex: what"
        " was used. What is left out, and why, is said on stderr."
    )
    parser.add_argument("run_id", metavar="RUN", help="id of the run, or the beginning of it")
    parser.add_argument("--format", required=True, choices=FORMATS, help="what to write")
    parser.add_argument(
        "--task",
        action="append",
        metavar="T",
        help="the task (csv and json: may be repeated, default all; others: needed where the run has several)",
    )
    parser.add_argument("--out", type=Path, metavar="PATH", help="a file (default: standard output)")
    parser.add_argument(
        "--what",
        choices=("selection", "ranking"),
        help="trec, csv: the picks (default), or all that the retriever ranked",
    )
    parser.add_argument("--instance", metavar="ID", help="html: the report on this instance")
    parser.add_argument(
        "--plain", action="store_true", help="html: plain words and larger type, no gold and no scores"
    )
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="html: instances on the page of a run (default: 200)"
    )
    parser.add_argument("--text", action="store_true", help="csv: sections and sentences too")
    parser.add_argument("--bom", action="store_true", help="csv: a byte order mark, for Excel")
    add_json(parser)


def _export(args: argparse.Namespace) -> int:
    """Write the export; ``--json`` tells, with ``--out``, what was written and what was not."""
    from evidencebench_core.runs import RunStore

    for name, formats in _ONLY_FOR.items():
        if getattr(args, name) and args.format not in formats:
            raise SettingError(f"--{name}", f"is for {' and '.join(formats)}", "Leave it out.")
    if args.plain and args.instance is None:
        raise SettingError("--plain", "is for the report on one instance", "Name it with --instance.")
    _check_json(args)
    store = store_of(args)
    info = RunStore(store).run(args.run_id)
    with output(args.out) as stream:
        written = _write(store, info, args, stream)
    _tell(written, args)
    return 0


def _check_json(args: argparse.Namespace) -> None:
    if args.json and args.out is None:
        raise SettingError("--json", "tells what is in a file", "Name the file with --out.")


def _write(
    store: Store, info: RunInfo, args: argparse.Namespace, stream: BinaryIO
) -> dict[str, ExportCounts]:
    """By task name what was written; of BibTeX there is nothing to say."""
    from evidencebench_core import export
    from evidencebench_core.runs import score_run

    if args.format == "bibtex":
        stream.write(export.bibtex([(info.retriever, info.settings)], store.dataset(info.dataset)).encode())
        return {}
    tasks = export.tasks_of(info, args.task, several=args.format in _SEVERAL_TASKS)
    if args.format == "html":
        return {tasks[0].name: _write_html(store, info, tasks[0], args, stream)}
    stream.write(b"\xef\xbb\xbf" if args.bom else b"")
    what: Literal["selection", "ranking"] = args.what or "selection"
    written: dict[str, ExportCounts] = {}
    with _as_text(stream) as text:
        answers = [export.RunAnswers(store, info, task, with_papers=args.text) for task in tasks]
        if args.format == "json":
            scored = ((one.task, score_run(store, info.id, one.task), one) for one in answers)
            return export.write_json(info, store.dataset(info.dataset), scored, text, export.versions())
        for task, one in zip(tasks, answers, strict=True):
            if args.format == "csv":
                written[task.name] = export.write_csv(one, task, text, info.id, what, header=not written)
            elif args.format == "qrels":
                written[task.name] = export.write_qrels(store.evidence_sets(info.dataset), task, text)
            elif args.format == "predictions":
                written[task.name] = export.write_predictions(one, task, text)
            else:
                tag = f"{info.retriever}-{info.id}"
                written[task.name] = export.write_run(one, task, text, tag, what)
    return written


def _write_html(
    store: Store, info: RunInfo, task: Task, args: argparse.Namespace, stream: BinaryIO
) -> ExportCounts:
    from evidencebench_core.annotation.provenance import gold_makers
    from evidencebench_core.export import ExportCounts, RunAnswers, run_html, versions
    from evidencebench_core.runs import score_run

    command = "evidencebench " + shlex.join(args.words)
    if args.instance is not None:
        stream.write(_instance_html(store, info, task, args, command).encode())
        return ExportCounts(1, 1)
    score = score_run(store, info.id, task)
    answers = RunAnswers(store, info, task, with_papers=True)
    limit = args.limit or _INSTANCES
    notes = gold_makers(store, info.dataset).notes([info])
    stream.write(run_html(info, score, answers, command, versions(), limit, notes).encode())
    missing = dict.fromkeys(score.missing, "no answer")
    return ExportCounts(
        score.n_scored, min(limit, len(store.ids(info.dataset))), missing, dict(score.skipped)
    )


def _instance_html(store: Store, info: RunInfo, task: Task, args: argparse.Namespace, command: str) -> str:
    from evidencebench_core.export import ReportInput, report_html, versions
    from evidencebench_core.runs import RunStore

    instance = store.get(info.dataset, args.instance)
    retrieval = RunStore(store).retrieval(info.id, task.name, instance.id)
    if retrieval is None:
        reason = RunStore(store).failures(info.id, task.name).get(instance.id, "it was not asked")
        raise UnknownNameError(
            f"instance {shown(instance.id)}",
            f"has no answer of run {info.id} to {task.name}: {reason}",
            "Start the run again with `evidencebench run`, it goes on.",
        )
    other = f"The retriever was asked another wording or arrangement: {info.variant}."
    report = ReportInput(
        instance,
        retrieval,
        task,
        retriever=info.label,
        settings=info.settings,
        source=f"{instance.id} of {info.dataset}",
        notes=(other,) if info.variant else (),
        command=command,
        created_at=info.created_at,
        versions=versions(),
    )
    return report_html(report, plain=args.plain)


def _add_export_dataset(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a dataset of the store as the benchmark's JSON, always the same bytes; those of the file it"
        " came from where its layout is a usual one. Or its gold as TREC diversity qrels."
    )
    parser.add_argument("name", metavar="NAME", help="a dataset in the store")
    parser.add_argument("--format", choices=("benchmark", "qrels"), default="benchmark", help="what to write")
    parser.add_argument("--task", metavar="T", help="qrels: whose aspects, er@K's (default) or result-er@K's")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a file (default: standard output)")
    add_json(parser)


def _export_dataset(args: argparse.Namespace) -> int:
    """Write it; ``--json`` tells, with ``--out``, what was written."""
    _check_json(args)
    store = store_of(args)
    if args.format == "qrels":
        _write_qrels(store, args)
    else:
        _write_benchmark(store, args)
    return 0


def _write_benchmark(store: Store, args: argparse.Namespace) -> None:
    from evidencebench_core.export import stream_dataset

    if args.task is not None:
        raise SettingError("--task", "is for qrels", "Leave it out: a dataset file has all tasks.")
    info = store.dataset(args.name)
    with output(args.out) as stream:
        written = stream_dataset(store, info, stream)
    note(f"{quantity(written.n_instances, 'instance')}, {written.n_bytes:,} bytes")
    if args.json:
        print_json({"path": str(args.out), "dataset": info.name, **asdict(written)})


def _write_qrels(store: Store, args: argparse.Namespace) -> None:
    from evidencebench_core.export import write_qrels
    from evidencebench_core.tasks import task_named

    task = task_named(args.task or "er@optimal")
    gold = store.evidence_sets(store.dataset(args.name).name)
    with output(args.out) as stream, _as_text(stream) as text:
        written = write_qrels(gold, task, text)
    _tell({task.name: written}, args)


@contextmanager
def output(out: Path | None) -> Iterator[BinaryIO]:
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


def _tell(written: dict[str, ExportCounts], args: argparse.Namespace) -> None:
    """Say what was written and what was not, task by task: on stderr, and as JSON if asked for."""
    for name, one in written.items():
        for line in one.lines():
            note(f"{name}: {line}")
    if args.json:
        print_json({"path": str(args.out), "tasks": {name: one.as_dict() for name, one in written.items()}})
    elif args.out is not None:
        note(f"Written to {args.out}")


VERBS: Final = {"export": (_add_export, _export), "export-dataset": (_add_export_dataset, _export_dataset)}
