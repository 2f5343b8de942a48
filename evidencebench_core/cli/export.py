"""``evidencebench export RUN --format F``"""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.errors import SettingError, UnknownNameError, shown

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.export import Written
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
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


def run(args: argparse.Namespace) -> int:
    """Write the export; ``--json`` tells, with ``--out``, what was written and what was not."""
    from evidencebench_core.runs import RunStore

    _check(args)
    store = store_of(args)
    info = RunStore(store).run(args.run_id)
    with opened(args.out) as stream:
        told = _written(store, info, args, stream)
    tell(told, args.out, args.json)
    return 0


def _check(args: argparse.Namespace) -> None:
    for name, formats in _ONLY_FOR.items():
        if getattr(args, name) and args.format not in formats:
            raise SettingError(f"--{name}", f"is for {' and '.join(formats)}", "Leave it out.")
    if args.plain and args.instance is None:
        raise SettingError("--plain", "is for the report on one instance", "Name it with --instance.")
    if args.json and args.out is None:
        raise SettingError("--json", "tells what is in a file", "Name the file with --out.")


def _written(store: Store, info: RunInfo, args: argparse.Namespace, stream: BinaryIO) -> dict[str, Written]:
    """By task name what was written; of BibTeX there is nothing to say."""
    from evidencebench_core.export import bibtex, tasks_of

    if args.format == "bibtex":
        dataset = store.dataset(info.dataset)
        stream.write(bibtex([(info.retriever, info.settings)], dataset).encode())
        return {}
    tasks = tasks_of(info, args.task, several=args.format in _SEVERAL_TASKS)
    if args.format == "json":
        return _json(store, info, tasks, stream)
    if args.format == "csv":
        return _csv(store, info, tasks, args, stream)
    return {tasks[0].name: _one_task(store, info, tasks[0], args, stream)}


def _one_task(store: Store, info: RunInfo, task: Task, args: argparse.Namespace, stream: BinaryIO) -> Written:
    from evidencebench_core.export import RunAnswers, write_predictions, write_qrels, write_run

    if args.format == "html":
        return _html(store, info, task, args, stream)
    with as_text(stream) as text:
        if args.format == "qrels":
            return write_qrels(store.evidence_sets(info.dataset), task, text)
        answers = RunAnswers(store, info, task)
        if args.format == "predictions":
            return write_predictions(answers, task, text)
        return write_run(answers, task, text, f"{info.retriever}-{info.id}", args.what or "selection")


def _csv(
    store: Store, info: RunInfo, tasks: Sequence[Task], args: argparse.Namespace, stream: BinaryIO
) -> dict[str, Written]:
    from evidencebench_core.export import RunAnswers, write_csv

    stream.write(b"\xef\xbb\xbf" if args.bom else b"")
    told: dict[str, Written] = {}
    with as_text(stream) as text:
        for task in tasks:
            answers = RunAnswers(store, info, task, with_papers=args.text)
            told[task.name] = write_csv(
                answers, task, text, info.id, args.what or "selection", header=not told
            )
    return told


def _json(store: Store, info: RunInfo, tasks: Sequence[Task], stream: BinaryIO) -> dict[str, Written]:
    from evidencebench_core.export import RunAnswers, versions, write_json
    from evidencebench_core.runs import score_run

    answers = ((task, score_run(store, info.id, task), RunAnswers(store, info, task)) for task in tasks)
    with as_text(stream) as text:
        return write_json(info, store.dataset(info.dataset), answers, text, versions())


def _html(store: Store, info: RunInfo, task: Task, args: argparse.Namespace, stream: BinaryIO) -> Written:
    from evidencebench_core.export import RunAnswers, Written, run_html, versions
    from evidencebench_core.runs import score_run

    command = "evidencebench " + shlex.join(args.words)
    if args.instance is not None:
        stream.write(_instance_html(store, info, task, args, command).encode())
        return Written(1, 1)
    score = score_run(store, info.id, task)
    answers = RunAnswers(store, info, task, with_papers=True)
    page = run_html(info, score, answers, command, versions(), args.limit or 200)
    stream.write(page.encode())
    missing = dict.fromkeys(score.missing, "no answer")
    return Written(
        score.n_scored, min(args.limit or 200, len(store.ids(info.dataset))), missing, dict(score.skipped)
    )


def _instance_html(store: Store, info: RunInfo, task: Task, args: argparse.Namespace, command: str) -> str:
    from evidencebench_core.export import report_html, report_of, versions
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
    others: dict[str, Any] = {}
    if info.variant:
        others["notes"] = (f"The retriever was asked another wording or arrangement: {info.variant}.",)
    report = report_of(
        instance,
        retrieval,
        task,
        retriever=info.label,
        settings=info.settings,
        source=f"{instance.id} of {info.dataset}",
        command=command,
        created_at=info.created_at,
        versions=versions(),
        **others,
    )
    return report_html(report, plain=args.plain)


@contextmanager
def opened(out: Path | None) -> Iterator[BinaryIO]:
    """The file, there whole or not at all, or standard output."""
    from evidencebench_core.export import whole_file

    if out is not None:
        with whole_file(out) as stream:
            yield stream
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def as_text(stream: BinaryIO) -> Iterator[TextIO]:
    """UTF-8 text into a binary stream, line ends as they are written."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        yield text
    finally:
        text.detach()


def tell(told: dict[str, Written], out: Path | None, as_json: bool) -> None:
    """What was written and what was not, task by task: on stderr, and as JSON if asked for."""
    for name, written in told.items():
        for line in written.lines():
            note(f"{name}: {line}")
    if as_json:
        print_json({"path": str(out), "tasks": {name: written.as_dict() for name, written in told.items()}})
    elif out is not None:
        note(f"Written to {out}")
