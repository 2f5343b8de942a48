"""``evidencebench analyse agreement PAPER ... --annotators A B``"""

from __future__ import annotations

import argparse

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import positive, store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "papers",
        metavar="PAPER",
        nargs="+",
        help="number of a kept paper, as in the address of the app; with --dataset, id of an instance",
    )
    parser.add_argument(
        "--dataset", metavar="NAME", help="a dataset in the store, whose instances were marked"
    )
    parser.add_argument(
        "--annotators",
        metavar=("A", "B"),
        nargs=2,
        required=True,
        help="two names; of an instance one may be gold, the dataset's own",
    )
    parser.add_argument(
        "--resamples",
        type=positive,
        default=10_000,
        metavar="N",
        help="of each bootstrap (default: %(default)s)",
    )


def report(args: argparse.Namespace) -> Report:
    """Agreement of two annotators; the task makes no difference."""
    from evidencebench_core.analyses.annotators import Compared, agreement_report
    from evidencebench_core.analyses.marked_papers import annotation_of, instance_key, marked_paper
    from evidencebench_core.papers.annotations import Annotations

    store = store_of(args)
    annotations = Annotations(store)
    dataset = None if args.dataset is None else store.dataset(args.dataset)
    compared = []
    for paper in args.papers:
        own = paper if ":" in paper else f"own:{paper}"
        marked = marked_paper(store, own if dataset is None else instance_key(dataset, paper))
        a, b = (annotation_of(annotations, marked, who) for who in args.annotators)
        compared.append(Compared(marked.name, marked.paper.sentences, a, b))
    return agreement_report(compared, args.resamples)
