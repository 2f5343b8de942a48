"""``evidencebench runs``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import counted, note, plain, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evidencebench_core.retrievers.llm import OutcomeCounts
    from evidencebench_core.runs import RunInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--dataset", metavar="NAME", help="only the runs over this dataset")
    parser.add_argument(
        "--variants", action="store_true", help="also the runs over perturbed instances, such as [negation]"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the runs in the store."""
    from evidencebench_core.runs import RunStore

    store = store_of(args)
    runs = RunStore(store).runs(args.dataset, variants=args.variants)
    outcomes = {run.id: RunStore(store).outcomes(run.id) for run in runs}
    if args.json:
        print_json([run_document(run, outcomes[run.id]) for run in runs])
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
    for run in runs:
        if run.n_trained_on:
            print(
                plain(
                    f"{run.id}: {counted(run.n_trained_on, 'instance')} of {run.dataset} were in the training data"
                    " of its model: its scores there are no estimate of how it does on others"
                )
            )
        for task, counts in outcomes[run.id].items():
            print(plain(f"{run.id}, {task}: the model gave {counts}"))
    return 0


def run_document(run: RunInfo, outcomes: Mapping[str, OutcomeCounts]) -> dict[str, Any]:
    """A run as JSON-able values; ``outcomes`` is in it if a model was asked."""
    counted = {"outcomes": {task: counts.as_dict() for task, counts in outcomes.items()}} if outcomes else {}
    return {
        "run": run.id,
        "dataset": run.dataset,
        "retriever": run.retriever,
        "label": run.label,
        "variant": run.variant,
        "settings": dict(run.settings),
        "created_at": run.created_at,
        "tasks": dict(run.tasks),
        "n_failed": run.n_failed,
        "n_trained_on": run.n_trained_on,
        **counted,
    }
