"""``evidencebench analyse positions [RUN ...]``"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import positive, store_of

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

__all__ = ["add_arguments", "add_runs", "dataset_of", "report"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add_runs(parser)
    parser.add_argument(
        "--buckets", type=positive, default=10, metavar="N", help="into how many (default: %(default)s)"
    )
    parser.add_argument(
        "--by",
        choices=("sentence", "token"),
        default="sentence",
        help="equal shares of a paper's sentences (default), or of its tokens, which are runs of characters"
        " between white space",
    )


def report(args: argparse.Namespace) -> Report:
    """Opportunity, picks and recall by position."""
    from evidencebench_core.analyses.positions import positions

    store = store_of(args)
    return positions(store, dataset_of(args, store), args.runs, args.task, buckets=args.buckets, by=args.by)


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Runs, none or more, and the dataset, which they name too."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help="id of a run, or the beginning of it")
    parser.add_argument("--dataset", metavar="NAME", help="a dataset in the store; needed without a run")


def dataset_of(args: argparse.Namespace, store: Store) -> str:
    """The dataset that is named, or that of the first run.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset or run; neither named.
    """
    from evidencebench_core.errors import SettingError
    from evidencebench_core.runs import RunStore

    if args.dataset is not None:
        return store.dataset(args.dataset).name
    if not args.runs:
        raise SettingError(
            f"analyse {args.analysis}", "names neither a run nor a dataset", "Give RUN, or --dataset NAME."
        )
    return RunStore(store).run(args.runs[0]).dataset
