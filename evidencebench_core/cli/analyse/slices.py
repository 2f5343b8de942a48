"""``evidencebench analyse slices RUN ...``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="id of a run, or the beginning of it; the others are compared with the first",
    )


def report(args: argparse.Namespace) -> Report:
    """Recall and paired differences slice by slice."""
    from evidencebench_core.analyses.slices import slices

    return slices(store_of(args), args.runs, args.task)
