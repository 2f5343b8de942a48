"""``evidencebench analyse dataset NAME``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("name", metavar="NAME", help="name of a dataset in the store")
    parser.add_argument(
        "--all-papers",
        action="store_true",
        help="read every paper for tokens, sections and sentence types, not those of 2,000 instances",
    )


def report(args: argparse.Namespace) -> Report:
    """What the dataset is made of; the task makes no difference."""
    from evidencebench_core.analyses.dataset import READ, dataset_report

    return dataset_report(store_of(args), args.name, None if args.all_papers else READ)
