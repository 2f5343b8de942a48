"""``evidencebench analyse spelling RUN ...``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.analyse.variants import add_runs, report_of_runs
from evidencebench_core.cli.arguments import positive, store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add_runs(parser)
    parser.add_argument(
        "--errors",
        type=_counts,
        default=(0, 1, 3, 10, 20, 50),
        metavar="N,N,...",
        help="how many words are misspelt (default: 0,1,3,10,20,50)",
    )
    parser.add_argument(
        "--seeds", type=positive, default=1, metavar="N", help="average over N draws of errors (default: 1)"
    )


def report(args: argparse.Namespace) -> Report:
    """Recall against the number of misspelt words, for every run."""
    from evidencebench_core.analyses.sensitivity import spelling_report, spelling_variants

    errors, seeds = args.errors, range(args.seeds)
    return report_of_runs(
        store_of(args),
        args,
        lambda store, dataset: spelling_variants(store, dataset, errors, seeds),
        lambda store, asked: spelling_report(store, asked, errors, seeds),
    )


def _counts(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() and len(part) < 5 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0,1,3")
    return tuple(sorted({int(part) for part in parts}))
