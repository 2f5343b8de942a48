"""``evidencebench export-dataset NAME``"""

from __future__ import annotations

import argparse
from pathlib import Path

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.export import as_text, opened, tell
from evidencebench_core.cli.output import counted, note, print_json
from evidencebench_core.errors import SettingError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Write a dataset of the store as the benchmark's JSON, always the same bytes; those of the file it"
        " came from where its layout is a usual one. Or its gold as TREC diversity qrels."
    )
    parser.add_argument("name", metavar="NAME", help="a dataset in the store")
    parser.add_argument("--format", choices=("benchmark", "qrels"), default="benchmark", help="what to write")
    parser.add_argument("--task", metavar="T", help="qrels: whose aspects, er@K's (default) or result-er@K's")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a file (default: standard output)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write it; ``--json`` tells, with ``--out``, what was written."""
    if args.json and args.out is None:
        raise SettingError("--json", "tells what is in a file", "Name the file with --out.")
    return _qrels(args) if args.format == "qrels" else _benchmark(args)


def _benchmark(args: argparse.Namespace) -> int:
    from evidencebench_core.export import stream_dataset

    if args.task is not None:
        raise SettingError("--task", "is for qrels", "Leave it out: a dataset file has all tasks.")
    store = store_of(args)
    info = store.dataset(args.name)
    with opened(args.out) as stream:
        written = stream_dataset(store, info, stream)
    same = "the very bytes" if written.identical else "equal instances, another layout than the bytes"
    note(f"{counted(written.n_instances, 'instance')}, {written.n_bytes:,} bytes: {same} of {info.source}")
    if args.json:
        print_json(
            {
                "path": str(args.out),
                "dataset": info.name,
                "n_instances": written.n_instances,
                "n_bytes": written.n_bytes,
                "sha256": written.sha256,
                "identical": written.identical,
            }
        )
    return 0


def _qrels(args: argparse.Namespace) -> int:
    from evidencebench_core.export import write_qrels
    from evidencebench_core.tasks import task_named

    task, store = task_named(args.task or "er@optimal"), store_of(args)
    gold = store.evidence_sets(store.dataset(args.name).name)
    with opened(args.out) as stream, as_text(stream) as text:
        written = write_qrels(gold, task, text)
    tell({task.name: written}, args.out, args.json)
    return 0
