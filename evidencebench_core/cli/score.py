"""``evidencebench score RUN``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import add_json, add_missing, store_of
from evidencebench_core.cli.output import plain, print_json

if TYPE_CHECKING:
    from evidencebench_core.retrievers.llm import OutcomeCounts
    from evidencebench_core.tasks import Score


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("run_id", metavar="RUN", help="id of the run, or the beginning of it")
    parser.add_argument(
        "--task", action="append", metavar="T", help="a task (may be repeated; default: all that the run has)"
    )
    add_missing(parser)
    add_json(parser)


def _document(score: Score, outcomes: OutcomeCounts | None, seen: frozenset[str]) -> dict[str, Any]:
    counted = {} if outcomes is None else {"outcomes": outcomes.as_dict()}
    return score.as_dict() | {"n_trained_on": len(seen & score.per_instance.keys())} | counted


def run(args: argparse.Namespace) -> int:
    """Score a run; as JSON a list with one object a task, with ``outcomes`` where a model was asked."""
    from evidencebench_core.cli.scores import print_outcomes, print_scores
    from evidencebench_core.cli.trained_warning import seen_by, tell_trained_on
    from evidencebench_core.errors import UnknownNameError
    from evidencebench_core.runs import RunStore, score_run

    store = store_of(args)
    info = RunStore(store).run(args.run_id)
    tasks = args.task or tuple(info.tasks)
    if not tasks:
        raise UnknownNameError(
            f"run {info.id}", "has no answers yet", "Start it again with `evidencebench run`, it goes on."
        )
    scores = [score_run(store, info.id, task, missing=args.missing) for task in tasks]
    outcomes = RunStore(store).outcomes(info.id)
    seen = seen_by(store, info)
    tell_trained_on(info, seen, scores)
    if args.json:
        print_json([_document(score, outcomes.get(score.task.name), seen) for score in scores])
        return 0
    print(plain(f"run {info.id}: {info.label} over {info.dataset}"))
    print_scores(scores)
    print_outcomes(outcomes, [score.task.name for score in scores])
    return 0
