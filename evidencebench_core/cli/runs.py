"""``evidencebench runs``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import note, print_json, print_table

if TYPE_CHECKING:
    from evidencebench_core.runs import RunInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--dataset", metavar="NAME", help="only the runs over this dataset")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the runs in the store."""
    from evidencebench_core.runs import RunStore

    store = store_of(args)
    runs = RunStore(store).runs(args.dataset)
    if args.json:
        print_json([run_document(run) for run in runs])
        return 0
    if not runs:
        note("There are no runs yet. Start one with `evidencebench run --dataset NAME --retriever NAME`.")
        return 0
    print_table(
        ("run", "dataset", "retriever", "answered", "failed", "started"),
        [
            (
                run.id,
                run.dataset,
                run.label,
                ", ".join(f"{task} {answered:,}" for task, answered in run.tasks.items()) or "nothing yet",
                f"{run.n_failed:,}",
                run.created_at[:16].replace("T", " "),
            )
            for run in runs
        ],
        right=("failed",),
    )
    return 0


def run_document(run: RunInfo) -> dict[str, Any]:
    """A run as JSON-able values."""
    return {
        "run": run.id,
        "dataset": run.dataset,
        "retriever": run.retriever,
        "label": run.label,
        "settings": dict(run.settings),
        "created_at": run.created_at,
        "tasks": dict(run.tasks),
        "n_failed": run.n_failed,
    }
