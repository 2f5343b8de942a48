"""``evidencebench analyse needle RUN ...``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evidencebench_core.analyses import Report
from evidencebench_core.cli.analyse.positions import dataset_of
from evidencebench_core.cli.arguments import positive, store_of
from evidencebench_core.cli.output import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidencebench_core.analyses.arrangements import Part, Place
    from evidencebench_core.data.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="id, or the beginning of it, of a run over the papers as they stand",
    )
    parser.add_argument(
        "--part",
        action="append",
        metavar="P",
        help="what is moved: abstract (default), introduction, methods, results, discussion, conclusion, or"
        " every for each of them in turn (may be repeated)",
    )
    parser.add_argument(
        "--place",
        action="append",
        choices=("start", "middle", "end", "removed"),
        help="where it is moved to (may be repeated; default: all four)",
    )
    parser.add_argument(
        "--stored-only", action="store_true", help="do not run the arrangements that have not been run yet"
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="run only the first N instances")
    parser.set_defaults(dataset=None)


def report(args: argparse.Namespace) -> Report:
    """Recall against the place to which a part of each paper was moved."""
    from evidencebench_core.analyses.arrangements import PLACES, parts_named
    from evidencebench_core.analyses.needle import needle

    store = store_of(args)
    dataset = dataset_of(args, store)
    parts, places = parts_named(args.part or ["abstract"]), tuple(dict.fromkeys(args.place or PLACES))
    if not args.stored_only:
        _run_missing(store, args, parts, places)
    return needle(store, dataset, args.runs, args.task, parts, places)


def _run_missing(
    store: Store, args: argparse.Namespace, parts: Sequence[Part], places: Sequence[Place]
) -> None:
    from evidencebench_core.analyses.arrangements import run_arrangements
    from evidencebench_core.cli.progress import progress_bar
    from evidencebench_core.runs import RunStore

    for name in args.runs:
        run = RunStore(store).run(name)
        bar, number = None, 0
        try:
            for step in run_arrangements(
                store, run.dataset, run.retriever, run.settings, [args.task], parts, places, limit=args.limit
            ):
                if step.number != number:
                    if bar is not None:
                        bar.close()
                    number = step.number
                    note(f"{run.label} {step.variant or 'as the papers stand'} ({number} of {step.of})")
                    bar = progress_bar(step.progress.total, "instances", step.progress.done)
                elif bar is not None:
                    bar.update()
        finally:
            if bar is not None:
                bar.close()
