"""``evidencebench download NAME``"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import note, plain, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("name", metavar="NAME", help="evidencebench or evidencebench-100k")
    parser.add_argument("--split", metavar="S", help="train, dev or test (default: all there are)")
    parser.add_argument(
        "--folder", metavar="PATH", type=Path, help="where to (default: a folder beside the default store)"
    )
    parser.add_argument("--base-url", metavar="URL", help="another server that has the files")
    parser.add_argument("--ingest", action="store_true", help="bring the files into the store as well")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Fetch a dataset's files; as JSON one object with ``files`` and ``datasets``."""
    from evidencebench_core.cli.datasets import dataset_document
    from evidencebench_core.cli.ingest import ingested, told

    paths = _fetched(args)
    results = [ingested(store_of(args), path, None) for path in paths] if args.ingest else []
    if args.json:
        print_json(
            {
                "files": [str(path) for path in paths],
                "datasets": [dataset_document(result.dataset) for result in results],
            }
        )
        return 0
    for path in paths:
        print(plain(str(path)))
    for result in results:
        print(plain(told(result)))
    if not args.ingest:
        print("To bring them into the store:")
        for path in paths:
            print(plain(f"  evidencebench ingest {shlex.quote(str(path))}"))
    return 0


def _fetched(args: argparse.Namespace) -> tuple[Path, ...]:
    """The files, with the licences and sizes on stderr before and a bar while they come."""
    from evidencebench_core.cli.progress import progress_bar
    from evidencebench_core.data.download import download

    bars: list[Any] = []  # at most one: a line of the report ends it

    def close() -> None:
        while bars:
            bars.pop().close()

    def report(line: str) -> None:
        close()
        note(line)

    def advanced(done: int, total: int | None) -> None:
        if not bars:
            bars.append(progress_bar(total, "bytes", done, n_bytes=True))
        bars[0].update(done - bars[0].n)

    try:
        return download(
            args.name, args.split, args.folder, base_url=args.base_url, report=report, progress=advanced
        )
    finally:
        close()
