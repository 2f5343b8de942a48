"""``evidencebench ingest FILE``, ``download NAME`` and ``datasets``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import note, print_json, print_table
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.ingest import IngestResult
    from evidencebench_core.data.store import DatasetInfo, Store


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="JSON object of instances or JSON lines; plain, gzip or zstd",
    )
    parser.add_argument("--name", metavar="N", help="the dataset's name (default: from the file's)")
    add_json(parser)


def _ingest(args: argparse.Namespace) -> int:
    """Ingest a file; as JSON one object with ``added`` and ``dataset``."""
    result = _ingest_with_bar(store_of(args), args.file, args.name)
    if args.json:
        print_json({"added": result.added, "dataset": _document(result.dataset)})
    else:
        print(one_line(_outcome(result)))
    return 0


def _ingest_with_bar(store: Store, path: Path, name: str | None) -> IngestResult:
    """Ingest with a progress bar."""
    from evidencebench_core.data.ingest import ingest

    with progress_bar(None, "bytes", n_bytes=True) as bar:

        def advance_with_count(done: int, total: int, n_instances: int) -> None:
            bar.set_postfix_str(quantity(n_instances, "instance"), refresh=False)
            advance(bar, done, total)

        return ingest(store, path, name=name, progress=advance_with_count)


def _outcome(result: IngestResult) -> str:
    dataset = result.dataset
    content = (
        f"{quantity(dataset.n_instances, 'instance')} from {quantity(dataset.n_papers, 'paper')},"
        f" {dataset.n_result_instances:,} with result aspects"
    )
    if not result.added:
        return f"The store has this file already, as {dataset.name}: {content}. Nothing was changed."
    return f"Ingested {dataset.name}: {content}."


def _add_download(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="evidencebench or evidencebench-100k")
    parser.add_argument("--split", metavar="S", help="train, dev or test (default: all there are)")
    parser.add_argument(
        "--folder", metavar="PATH", type=Path, help="where to (default: a folder beside the default store)"
    )
    parser.add_argument("--base-url", metavar="URL", help="another server that has the files")
    parser.add_argument("--ingest", action="store_true", help="bring the files into the store as well")
    add_json(parser)


def _download(args: argparse.Namespace) -> int:
    """Fetch a dataset's files; as JSON one object with ``files`` and ``datasets``."""
    paths = _download_with_bar(args)
    results = [_ingest_with_bar(store_of(args), path, None) for path in paths] if args.ingest else []
    if args.json:
        datasets = [_document(result.dataset) for result in results]
        print_json({"files": [str(path) for path in paths], "datasets": datasets})
        return 0
    for line in (*map(str, paths), *map(_outcome, results)):
        print(one_line(line))
    if not args.ingest:
        print("To bring them into the store:")
        for path in paths:
            print(one_line(f"  evidencebench ingest {shlex.quote(str(path))}"))
    return 0


def _download_with_bar(args: argparse.Namespace) -> tuple[Path, ...]:
    """The files, with the licences and sizes on stderr before and a bar while they come."""
    from evidencebench_core.data.download import download

    bars: list[Any] = []  # at most one: a line of the report ends it

    def close() -> None:
        while bars:
            bars.pop().close()

    def report(line: str) -> None:
        close()
        note(line)

    def advance(done: int, total: int | None) -> None:
        if not bars:
            bars.append(progress_bar(total, "bytes", done, n_bytes=True))
        bars[0].update(done - bars[0].n)

    try:
        return download(
            args.name, args.split, args.folder, base_url=args.base_url, report=report, progress=advance
        )
    finally:
        close()


def _datasets(args: argparse.Namespace) -> int:
    """List the datasets in the store."""
    store = store_of(args)
    datasets = store.datasets()
    if args.json:
        print_json([_document(dataset) for dataset in datasets])
        return 0
    if not datasets:
        note(f"{store.path} has no datasets yet. Bring one in with `evidencebench ingest FILE`.")
        return 0
    numbers = ("instances", "papers", "with results")
    print_table(
        ("name", *numbers, "kind", "ingested", "source", "sha256"),
        [
            (
                dataset.name,
                f"{dataset.n_instances:,}",
                f"{dataset.n_papers:,}",
                f"{dataset.n_result_instances:,}",
                ("synthetic" if dataset.synthetic else "real")
                + (", gold sufficient, not complete" if dataset.sufficient else ""),
                dataset.ingested_at[:10],
                dataset.source,
                dataset.sha256[:12],
            )
            for dataset in datasets
        ],
        right=numbers,
    )
    return 0


def _document(dataset: DatasetInfo) -> dict[str, Any]:
    names = (
        "name",
        "sha256",
        "n_instances",
        "n_papers",
        "n_result_instances",
        "synthetic",
        "source",
        "sufficient",
    )
    return {name: getattr(dataset, name) for name in (*names, "ingested_at")}


VERBS: Final = {
    "ingest": (_add_ingest, _ingest),
    "download": (_add_download, _download),
    "datasets": (add_json, _datasets),
}
