"""Results that others computed: ``import-run``."""

from __future__ import annotations

import argparse
from typing import Final

from evidencebench_core.cli.arguments import add_json, add_predictions, store_of
from evidencebench_core.cli.output import print_json
from evidencebench_core.cli.scores import print_run, run_document
from evidencebench_core.words import one_line


def _add_import_run(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Bring the answers of your own system into the store as a run, whole or not at all. A TREC run holds"
        " rankings: the selection for a task is their first K. A prediction file holds selections, for the task"
        " whose K they have."
    )
    add_predictions(
        parser,
        '{"instance id": [0-based sentence index, ...], ...}, or a TREC run: id Q0 sentence rank score tag',
    )
    parser.add_argument("--name", metavar="S", required=True, help="what the run is called")
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="T",
        help="what the file is for (may be repeated; default: those of the four tasks with a budget whose K"
        " every list has)",
    )
    parser.add_argument("--replace", action="store_true", help="replace answers of the same name and task")
    parser.add_argument(
        "--allow-longer", action="store_true", help="keep selections of more than K: scored by expectation"
    )
    add_json(parser)


def _import_run(args: argparse.Namespace) -> int:
    """Import a file; as JSON the run, with ``source``, ``imported`` and ``left_out``."""
    from evidencebench_core.runs import import_run, score_run

    store = store_of(args)
    found = import_run(
        store,
        args.dataset,
        args.predictions,
        args.name,
        args.task,
        replace=args.replace,
        allow_longer=args.allow_longer,
    )
    if args.json:
        more = {"source": found.source, "imported": dict(found.answers), "left_out": dict(found.left_out)}
        print_json({**run_document(found.run, {}), **more})
        return 0
    print_run(found.run, [score_run(store, found.run.id, task) for task in found.answers], {})
    if left_out := "; ".join(f"{task}: {why}" for task, why in found.left_out.items()):
        print(
            one_line(
                f"Not imported, as the file does not serve them ({left_out}). Name what is meant with --task."
            )
        )
    return 0


VERBS: Final = {
    "import-run": (_add_import_run, _import_run),
}
