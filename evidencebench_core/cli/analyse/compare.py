"""``evidencebench analyse compare RUN ...``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help="id of a run, or the beginning of it")
    parser.add_argument(
        "--imported",
        metavar="NAME",
        nargs="+",
        default=(),
        help="instead of runs: systems of import-scores by name, say 'gpt-4o-2024-05-13 ICL' bm25",
    )


def report(args: argparse.Namespace) -> Report:
    """Every pair of systems."""
    from evidencebench_core.analyses.comparison import compare

    return compare(store_of(args), args.runs, args.task, args.imported)
