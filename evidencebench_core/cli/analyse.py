"""``evidencebench analyse WHAT ...``: one question for each row of `ANALYSES`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.cli.arguments import add_json, add_store, add_wordings_file, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import progress_bar
from evidencebench_core.cli.tables import print_report, write_csv

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report
    from evidencebench_core.analyses.arrangements import Part, Place
    from evidencebench_core.analyses.variant_runs import Setup
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import Variant

_ORIGINAL: Final = "id, or the beginning of it, of a run over the "


class Analysis(NamedTuple):
    """What it answers, the arguments beside those that all have, and the answer."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    report: Callable[[Store, argparse.Namespace], Report]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    analyses = parser.add_subparsers(dest="analysis", metavar="WHAT", title="analyses", required=True)
    for name, analysis in ANALYSES.items():
        summary = analysis.summary
        own = analyses.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
        )
        own.add_argument("--task", metavar="T", default="er@optimal", help="task (default: %(default)s)")
        add_json(own)
        own.add_argument(
            "--csv",
            type=Path,
            metavar="FILE",
            help="write the tables there; several tables: each to a file with its name before the suffix",
        )
        add_store(own, default=argparse.SUPPRESS)
        analysis.add_arguments(own)


def _run(args: argparse.Namespace) -> int:
    """Print an analysis; as JSON one object: title, tables (lists of records), notes."""
    report = ANALYSES[args.analysis].report(store_of(args), args)
    if args.csv is not None:
        write_csv(report, args.csv)
    if args.json:
        print_json(report.as_dict())
    elif args.csv is None:
        print_report(report)
    return 0


def _add_missed(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(task="result-er@optimal")
    parser.add_argument("run_id", metavar="RUN", help="id of the run, or the beginning of it")
    parser.add_argument("--all", action="store_true", help="all aspects, not the result aspects only")
    parser.add_argument(
        "--notes",
        action="store_true",
        help="instead of the misses what analysts noted on them: of each author the newest on each aspect",
    )


def _missed_report(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.missed_report import missed_report, notes_report

    if args.notes:
        return notes_report(store, args.run_id, args.task)
    short = not args.json and args.csv is None
    return missed_report(store, args.run_id, args.task, results_only=not args.all, short=short)


def _add_runs_or_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="*", help="id of a run, or the beginning of it")
    parser.add_argument("--dataset", metavar="NAME", help="a dataset in the store; needed without a run")


def _dataset_of(store: Store, args: argparse.Namespace) -> str:
    """The dataset that is named, or that of the first run."""
    from evidencebench_core.errors import SettingError
    from evidencebench_core.runs import RunStore

    if args.dataset is not None:
        return store.dataset(args.dataset).name
    if not args.runs:
        raise SettingError(
            f"analyse {args.analysis}", "names neither a run nor a dataset", "Give RUN, or --dataset NAME."
        )
    return RunStore(store).run(args.runs[0]).dataset


def _add_positions(parser: argparse.ArgumentParser) -> None:
    _add_runs_or_dataset(parser)
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


def _positions(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.positions import positions

    dataset = _dataset_of(store, args)
    return positions(store, dataset, args.runs, args.task, buckets=args.buckets, by=args.by)


def _add_ends(parser: argparse.ArgumentParser) -> None:
    _add_runs_or_dataset(parser)  # the defaults of the others are those of the paper's appendix K
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


def _ends(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.ends import EndsSplit, ends

    split = EndsSplit(args.head, args.tail, args.above, args.below)
    return ends(store, _dataset_of(store, args), args.runs, args.task, split)


def _add_needle(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", help=f"{_ORIGINAL}papers as they stand")
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


def _needle(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.arrangements import PLACES, parts_named
    from evidencebench_core.analyses.needle import needle

    dataset = _dataset_of(store, args)
    parts, places = parts_named(args.part or ["abstract"]), tuple(dict.fromkeys(args.place or PLACES))
    if not args.stored_only:
        for name in args.runs:
            _run_arrangements(store, name, args, parts, places)
    return needle(store, dataset, args.runs, args.task, parts, places)


def _run_arrangements(
    store: Store, name: str, args: argparse.Namespace, parts: Sequence[Part], places: Sequence[Place]
) -> None:
    from evidencebench_core.analyses.arrangements import run_arrangements
    from evidencebench_core.runs import RunStore

    run = RunStore(store).run(name)
    bar: Any = None
    try:
        for step in run_arrangements(
            store, run.dataset, run.retriever, run.settings, [args.task], parts, places, limit=args.limit
        ):
            if step.progress.instance_id is not None:
                bar.update()
                continue
            if bar is not None:
                bar.close()
            note(f"{run.label} {step.variant or 'as the papers stand'} ({step.number} of {step.of})")
            bar = progress_bar(step.progress.total, "instances", step.progress.done)
    finally:
        if bar is not None:
            bar.close()


def _add_wording_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", help=f"{_ORIGINAL}original hypotheses")
    parser.add_argument(
        "--stored-only", action="store_true", help="do not ask the retriever what it was not asked before"
    )


def _add_variants(parser: argparse.ArgumentParser) -> None:
    _add_wording_runs(parser)
    add_wordings_file(parser)
    parser.add_argument(
        "--only", choices=("paraphrases", "negation"), help="one of the two questions (default: both)"
    )
    parser.add_argument(
        "--no-rules", action="store_true", help="without the negations that are made by rule (negation:rules)"
    )


def _variants(store: Store, args: argparse.Namespace) -> Report:
    """Paraphrases and negation of every run, one table a question."""
    from evidencebench_core.analyses.wording import (
        negation_report,
        negation_variants,
        one_after_the_other,
        paraphrase_report,
        paraphrase_variants,
    )
    from evidencebench_core.cli.variants import keep_file
    from evidencebench_core.runs import RunStore

    by_rules = not args.no_rules
    if args.variants is not None:
        keep_file(store, RunStore(store).run(args.runs[0]).dataset, args.variants)
    reports = []
    if args.only != "negation":
        reports.append(_of_all_runs(store, args, paraphrase_variants, paraphrase_report))
    if args.only != "paraphrases":
        reports.append(
            _of_all_runs(
                store,
                args,
                lambda store, dataset: negation_variants(store, dataset, by_rules),
                lambda store, setup: negation_report(store, setup, by_rules=by_rules),
            )
        )
    return one_after_the_other(reports)


def _add_spelling(parser: argparse.ArgumentParser) -> None:
    _add_wording_runs(parser)
    parser.add_argument(
        "--errors",
        type=_numbers,
        default=(0, 1, 3, 10, 20, 50),
        metavar="N,N,...",
        help="how many words are misspelt (default: 0,1,3,10,20,50)",
    )
    parser.add_argument(
        "--seeds", type=positive, default=1, metavar="N", help="average over N draws of errors (default: 1)"
    )


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() and len(part) < 5 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0,1,3")
    return tuple(sorted({int(part) for part in parts}))


def _spelling(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.wording import spelling_report, spelling_variants

    errors, seeds = args.errors, range(args.seeds)
    return _of_all_runs(
        store,
        args,
        lambda store, dataset: spelling_variants(store, dataset, errors, seeds),
        lambda store, setup: spelling_report(store, setup, errors, seeds),
    )


def _of_all_runs(
    store: Store,
    args: argparse.Namespace,
    variants_of: Callable[[Store, str], Sequence[Variant]],
    report_of: Callable[[Store, Setup], Report],
) -> Report:
    """The same report for every run, its tables below each other, once what is missing is asked."""
    from evidencebench_core.analyses.variant_runs import setups_of
    from evidencebench_core.analyses.wording import one_below_the_other
    from evidencebench_core.tasks import task_named

    setups = setups_of(store, args.runs, task_named(args.task))
    reports = []
    for setup in setups:
        if not args.stored_only:
            _ask_missing(store, setup, (None, *variants_of(store, setup.dataset)))
        reports.append(report_of(store, setup))
    return one_below_the_other(setups, reports)


def _ask_missing(store: Store, setup: Setup, variants: Sequence[Variant | None]) -> None:
    from evidencebench_core.analyses.variant_runs import n_unanswered, run_variants

    missing = n_unanswered(store, setup, variants)
    if not missing:
        return
    note(f"{setup.retriever}: {missing:,} queries over {len(variants)} wordings have no answer yet")
    steps = run_variants(store, setup, variants)
    first = next(steps)
    with progress_bar(first.total, "instances", first.done) as bar:
        for step in steps:
            bar.update(step.done - bar.n)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="*", help="id of a run, or the beginning of it")
    parser.add_argument(
        "--imported",
        metavar="NAME",
        nargs="+",
        default=(),
        help="instead of runs: systems of import-scores by name, say 'gpt-4o-2024-05-13 ICL' bm25",
    )


def _compare(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.comparison import compare

    return compare(store, args.runs, args.task, args.imported)


def _add_slices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="id of a run, or the beginning of it; the others are compared with the first",
    )


def _slices(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.slices import slices

    return slices(store, args.runs, args.task)


def _add_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of a dataset in the store")
    parser.add_argument(
        "--all-papers",
        action="store_true",
        help="read every paper for tokens, sections and sentence types, not those of 2,000 instances",
    )


def _dataset(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.dataset import READ, dataset_report

    return dataset_report(store, args.name, None if args.all_papers else READ)


def _add_agreement(parser: argparse.ArgumentParser) -> None:
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


def _agreement(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.agreement import agreement

    return agreement(store, args.papers, args.annotators, args.dataset, args.resamples)


ANALYSES: Final = {
    "missed": Analysis(
        "the aspects that a run missed, nearest miss first, each with a suggested cause",
        _add_missed,
        _missed_report,
    ),
    "positions": Analysis(
        "where in the paper aspects stand, where runs look, what they find there", _add_positions, _positions
    ),
    "ends": Analysis(
        "instances whose evidence stands at the ends of the paper against those where it does not",
        _add_ends,
        _ends,
    ),
    "needle": Analysis(
        "recall against the place in the paper to which the evidence was moved", _add_needle, _needle
    ),
    "variants": Analysis(
        "what another wording of the hypotheses, or their negation, does to runs", _add_variants, _variants
    ),
    "spelling": Analysis(
        "recall against the number of spelling errors in the hypothesis", _add_spelling, _spelling
    ),
    "compare": Analysis(
        "any number of runs against each other, with p-values corrected for their number",
        _add_compare,
        _compare,
    ),
    "slices": Analysis("runs compared on parts of the dataset", _add_slices, _slices),
    "dataset": Analysis(
        "what a dataset is made of: the paper's table 1, and where its evidence stands",
        _add_dataset,
        _dataset,
    ),
    "agreement": Analysis(
        "how far two annotators agree on what covers which aspect, beside the paper's table 2",
        _add_agreement,
        _agreement,
    ),
}


VERBS: Final = {"analyse": (_add_arguments, _run)}
