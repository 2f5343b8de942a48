"""``evidencebench analyse ends [RUN ...]``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.analyse.positions import add_runs, dataset_of
from evidencebench_core.cli.arguments import store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments; the defaults are those of the paper's appendix K."""
    add_runs(parser)
    for name, which in (("head", "first"), ("tail", "last")):
        parser.add_argument(
            f"--{name}",
            type=int,
            default=10,
            metavar="N",
            help=f"how many of the {which} sentences are ends (default: %(default)s)",
        )
    for name, default, which in (("above", 0.8, "more"), ("below", 0.2, "less")):
        parser.add_argument(
            f"--{name}",
            type=float,
            default=default,
            metavar="SHARE",
            help=f"a group: ends cover {which} than this share of the aspects (default: %(default)s)",
        )


def report(args: argparse.Namespace) -> Report:
    """Recall where the ends cover much against where they cover little."""
    from evidencebench_core.analyses.ends import ends
    from evidencebench_core.analyses.ends_split import EndsSplit

    split = EndsSplit(args.head, args.tail, args.above, args.below)
    store = store_of(args)
    return ends(store, dataset_of(args, store), args.runs, args.task, split)
