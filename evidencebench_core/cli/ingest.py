"""``evidencebench ingest FILE``"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import counted, plain, print_json

if TYPE_CHECKING:
    from evidencebench_core.data.ingest import IngestResult
    from evidencebench_core.data.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="JSON object of instances or JSON lines; plain, gzip or zstd",
    )
    parser.add_argument("--name", metavar="N", help="the dataset's name (default: from the file's)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Ingest a file; as JSON one object with ``added`` and ``dataset``."""
    from evidencebench_core.cli.datasets import dataset_document

    result = ingested(store_of(args), args.file, args.name)
    if args.json:
        print_json({"added": result.added, "dataset": dataset_document(result.dataset)})
    else:
        print(plain(told(result)))
    return 0


def ingested(store: Store, path: Path, name: str | None) -> IngestResult:
    """Ingest with a progress bar."""
    from evidencebench_core.cli.progress import progress_bar
    from evidencebench_core.data.ingest import ingest

    with progress_bar(None, "bytes", n_bytes=True) as bar:

        def advanced(done: int, total: int, n_instances: int) -> None:
            bar.total = total
            bar.set_postfix_str(counted(n_instances, "instance"), refresh=False)
            bar.update(done - bar.n)

        return ingest(store, path, name=name, progress=advanced)


def told(result: IngestResult) -> str:
    """What became of it, in a line."""
    dataset = result.dataset
    content = (
        f"{counted(dataset.n_instances, 'instance')} from {counted(dataset.n_papers, 'paper')},"
        f" {dataset.n_result_instances:,} with result aspects"
    )
    if not result.added:
        return f"The store has this file already, as {dataset.name}: {content}. Nothing was changed."
    return f"Ingested {dataset.name}: {content}."
