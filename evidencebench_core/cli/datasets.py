"""``evidencebench datasets``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import note, print_json, print_table

if TYPE_CHECKING:
    from evidencebench_core.data.store import DatasetInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the datasets in the store."""
    store = store_of(args)
    datasets = store.datasets()
    if args.json:
        print_json([dataset_document(dataset) for dataset in datasets])
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
                "synthetic" if dataset.synthetic else "real",
                dataset.ingested_at[:10],
                dataset.source,
                dataset.sha256[:12],
            )
            for dataset in datasets
        ],
        right=numbers,
    )
    return 0


def dataset_document(dataset: DatasetInfo) -> dict[str, Any]:
    """A dataset as JSON-able values."""
    return {
        "name": dataset.name,
        "sha256": dataset.sha256,
        "n_instances": dataset.n_instances,
        "n_papers": dataset.n_papers,
        "n_result_instances": dataset.n_result_instances,
        "synthetic": dataset.synthetic,
        "source": dataset.source,
        "ingested_at": dataset.ingested_at,
    }
