"""``evidencebench analyse missed RUN``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.set_defaults(task="result-er@optimal")
    parser.add_argument("run_id", metavar="RUN", help="id of the run, or the beginning of it")
    parser.add_argument("--all", action="store_true", help="all aspects, not the result aspects only")
    parser.add_argument(
        "--notes",
        action="store_true",
        help="instead of the misses what analysts noted on them: of each author the newest on each aspect",
    )


def report(args: argparse.Namespace) -> Report:
    """The queue with causes, or the notes on it."""
    store = store_of(args)
    if args.notes:
        from evidencebench_core.analyses.missed_notes import notes_report

        return notes_report(store, args.run_id, args.task)
    from evidencebench_core.analyses.missed_report import missed_report

    short = not args.json and args.csv is None
    return missed_report(store, args.run_id, args.task, results_only=not args.all, short=short)
