"""``evidencebench analyse WHAT ...``: one question for each row of `ANALYSES`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.cli.arguments import add_json, add_store, add_wordings_file, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import progress_bar
from evidencebench_core.cli.tables import print_report, write_csv
from evidencebench_core.errors import SettingError

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report
    from evidencebench_core.analyses.variant_runs import Setup
    from evidencebench_core.annotation.marked import MarkedPaper
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import Variant

_RUN: Final = "id of a run, or the beginning of it"
_ORIGINAL: Final = "id, or the beginning of it, of a run over the "


class Analysis(NamedTuple):
    """One question: a summary, the function that answers it, and its own arguments."""

    summary: str
    report: Callable[[Store, argparse.Namespace], Report]
    arguments: tuple[Argument, ...]
    task: str


Argument = tuple[str, dict[str, Any]]
"""A name or option, and what `ArgumentParser.add_argument` is given beside it."""


def _argument(name: str, text: str, **options: Any) -> Argument:
    return name, options | {"help": text}


def _analysis(
    summary: str,
    report: Callable[[Store, argparse.Namespace], Report],
    *arguments: Argument,
    task: str = "er@optimal",
) -> Analysis:
    return Analysis(summary, report, arguments, task)


def _flag(name: str, text: str) -> Argument:
    return name, {"action": "store_true", "help": text}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    analyses = parser.add_subparsers(dest="analysis", metavar="WHAT", title="analyses", required=True)
    for name, (summary, _, arguments, task) in ANALYSES.items():
        own = analyses.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
        )
        own.add_argument("--task", metavar="T", default=task, help="task (default: %(default)s)")
        add_json(own)
        own.add_argument(
            "--csv",
            type=Path,
            metavar="FILE",
            help="write the tables there; several tables: each to a file with its name before the suffix",
        )
        add_store(own, default=argparse.SUPPRESS)
        if name == "variants":
            add_wordings_file(own)
        for option, settings in arguments:
            own.add_argument(option, **settings)


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


def _missed(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.missed_report import missed_report, notes_report

    if args.notes:
        return notes_report(store, args.run_id, args.task)
    short = not args.json and args.csv is None
    return missed_report(store, args.run_id, args.task, results_only=not args.all, short=short)


def _dataset_of(store: Store, args: argparse.Namespace) -> str:
    """The dataset that is named, or that of the first run."""
    from evidencebench_core.runs import RunStore

    if getattr(args, "dataset", None) is not None:
        return store.dataset(args.dataset).name
    if not args.runs:
        raise SettingError(
            f"analyse {args.analysis}", "names neither a run nor a dataset", "Give RUN, or --dataset NAME."
        )
    return RunStore(store).run(args.runs[0]).dataset


def _positions(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.positions import positions

    dataset = _dataset_of(store, args)
    return positions(store, dataset, args.runs, args.task, buckets=args.buckets, by=args.by)


def _ends(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.ends import EndsSplit, ends

    split = EndsSplit(args.head, args.tail, args.above, args.below)
    return ends(store, _dataset_of(store, args), args.runs, args.task, split)


def _ask_missing(
    store: Store, setup: Setup, variants: Sequence[Variant | None], limit: int | None = None
) -> None:
    from evidencebench_core.analyses.variant_runs import run_variants

    for number, variant in enumerate(variants, start=1):
        steps = run_variants(store, setup, [variant], limit=limit)
        first = next(steps)
        if first.done == first.total:
            continue
        note(f"{setup.label}, {first.text} ({number} of {len(variants)})")
        with progress_bar(first.total, "instances", first.done) as bar:
            for step in steps:
                bar.update(step.done - bar.n)


def _variants(store: Store, args: argparse.Namespace) -> Report:
    """Paraphrases and negation of every run, one table a question."""
    from evidencebench_core.analyses import wording
    from evidencebench_core.cli.variants import keep_file
    from evidencebench_core.runs import RunStore

    rules = not args.no_rules
    if args.variants is not None:
        keep_file(store, RunStore(store).run(args.runs[0]).dataset, args.variants)
    reports = []
    if args.only != "negation":
        reports.append(_of_all_runs(store, args, wording.paraphrase_variants, wording.paraphrase_report))
    if args.only != "paraphrases":
        reports.append(_of_all_runs(store, args, wording.negation_variants, wording.negation_report, rules))
    return wording.one_after_the_other(reports)


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() and len(part) < 5 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0,1,3")
    return tuple(sorted({int(part) for part in parts}))


def _spelling(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.wording import spelling_report, spelling_variants

    return _of_all_runs(store, args, spelling_variants, spelling_report, args.errors, range(args.seeds))


def _of_all_runs(
    store: Store,
    args: argparse.Namespace,
    variants_of: Callable[..., Sequence[Variant]],
    report_of: Callable[..., Report],
    *how: object,
) -> Report:
    """The same report for every run, its tables below each other, once what is missing is asked.

    ``how`` is what the variants and the report are given besides the dataset or the setup.
    """
    from evidencebench_core.analyses.variant_runs import setups_of
    from evidencebench_core.analyses.wording import one_below_the_other
    from evidencebench_core.tasks import task_named

    setups = setups_of(store, args.runs, task_named(args.task))
    if not args.stored_only:
        for setup in setups:
            _ask_missing(store, setup, (None, *variants_of(store, setup.dataset, *how)))
    return one_below_the_other(setups, [report_of(store, setup, *how) for setup in setups])


def _compare(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.comparison import compare
    from evidencebench_core.annotation.provenance import gold_makers
    from evidencebench_core.runs import RunStore

    report = compare(store, args.runs, args.task)
    if not args.runs:
        return report
    runs = [RunStore(store).run(one) for one in args.runs]
    notes = gold_makers(store, runs[0].dataset).notes(runs)
    return replace(report, notes=(*report.notes, *notes))


def _slices(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.slices import slices

    return slices(store, args.runs, args.task)


def _dataset(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.dataset import READ, dataset_report

    return dataset_report(store, args.name, None if args.all_papers else READ)


def _mesh(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.analyses.mesh import mesh_report

    return mesh_report(store, args.name, args.headings, args.tree, args.reference)


def _agreement(store: Store, args: argparse.Namespace) -> Report:
    from evidencebench_core.annotation.agreement import agreement

    papers = [_marked(store, args, paper) for paper in args.papers]
    return agreement(store, papers, args.annotators, args.resamples)


def _marked(store: Store, args: argparse.Namespace, paper: str) -> MarkedPaper:
    """What ``paper`` names: an instance, a build, a kept paper by its number, or any of them by its key."""
    from evidencebench_core.annotation.marked import instance_key, marked_paper

    if args.dataset is not None:
        return marked_paper(store, instance_key(store.dataset(args.dataset), paper))
    return marked_paper(store, paper if ":" in paper else f"own:{paper}")


_RUNS_OR_DATASET: Final = (
    _argument("runs", _RUN, metavar="RUN", nargs="*"),
    _argument("--dataset", "a dataset in the store; needed without a run", metavar="NAME"),
)
_WORDING_RUNS: Final = (
    _argument("runs", f"{_ORIGINAL}original hypotheses", metavar="RUN", nargs="+"),
    _flag("--stored-only", "do not ask the retriever what it was not asked before"),
)
ANALYSES: Final = {
    "missed": _analysis(
        "the aspects that a run missed, nearest miss first, each with a suggested cause",
        _missed,
        _argument("run_id", "id of the run, or the beginning of it", metavar="RUN"),
        _flag("--all", "all aspects, not the result aspects only"),
        _flag(
            "--notes",
            "instead of the misses what analysts noted on them: of each author the newest on each aspect",
        ),
        task="result-er@optimal",
    ),
    "positions": _analysis(
        "where in the paper aspects stand, where runs look, what they find there",
        _positions,
        *_RUNS_OR_DATASET,
        _argument(
            "--buckets", "into how many (default: %(default)s)", type=positive, default=10, metavar="N"
        ),
        _argument(
            "--by",
            "equal shares of a paper's sentences (default), or of its tokens, which are runs of"
            " characters between white space",
            choices=("sentence", "token"),
            default="sentence",
        ),
    ),
    "ends": _analysis(
        "instances whose evidence stands at the ends of the paper against those where it does not",
        _ends,
        # the defaults are those of the paper's appendix K
        *_RUNS_OR_DATASET,
        *(
            _argument(
                name,
                f"how many of the {which} sentences are ends (default: %(default)s)",
                type=int,
                default=10,
                metavar="N",
            )
            for name, which in (("--head", "first"), ("--tail", "last"))
        ),
        *(
            _argument(
                name,
                f"a group: ends cover {which} than this share of the aspects (default: %(default)s)",
                type=float,
                default=default,
                metavar="SHARE",
            )
            for name, default, which in (("--above", 0.8, "more"), ("--below", 0.2, "less"))
        ),
    ),
    "variants": _analysis(
        "what another wording of the hypotheses, or their negation, does to runs",
        _variants,
        *_WORDING_RUNS,
        _argument("--only", "one of the two questions (default: both)", choices=("paraphrases", "negation")),
        _flag("--no-rules", "without the negations that are made by rule (negation:rules)"),
    ),
    "spelling": _analysis(
        "recall against the number of spelling errors in the hypothesis",
        _spelling,
        *_WORDING_RUNS,
        _argument(
            "--errors",
            "how many words are misspelt (default: 0,1,3,10,20,50)",
            type=_numbers,
            default=(0, 1, 3, 10, 20, 50),
            metavar="N,N,...",
        ),
        _argument(
            "--seeds",
            "average over N draws of errors (default: 1)",
            type=positive,
            default=1,
            metavar="N",
        ),
    ),
    "compare": _analysis(
        "any number of runs against each other, with p-values corrected for their number",
        _compare,
        _argument("runs", _RUN, metavar="RUN", nargs="*"),
    ),
    "slices": _analysis(
        "runs compared on parts of the dataset",
        _slices,
        _argument("runs", f"{_RUN}; the others are compared with the first", metavar="RUN", nargs="+"),
    ),
    "dataset": _analysis(
        "what a dataset is made of: the paper's table 1, and where its evidence stands",
        _dataset,
        _argument("name", "name of a dataset in the store", metavar="NAME"),
        _flag(
            "--all-papers",
            "read every paper for tokens, sections and sentence types, not those of 2,000 instances",
        ),
    ),
    "mesh": _analysis(
        "which branches of MeSH a dataset's papers are in, and how evenly",
        _mesh,
        _argument("name", "name of a dataset in the store", metavar="NAME"),
        _argument(
            "--headings",
            "headings of its papers: CSV, TSV or JSON lines with paper_id and descriptor, PubMed XML or MEDLINE",
            type=Path,
            metavar="FILE",
            required=True,
        ),
        _argument("--tree", "mtreesYYYY.bin or descYYYY.xml", type=Path, metavar="FILE", required=True),
        _argument(
            "--reference",
            "headings of a sample to compare with, in any of these forms",
            type=Path,
            metavar="FILE",
        ),
    ),
    "agreement": _analysis(
        "how far two annotators agree on what covers which aspect, beside the paper's table 2",
        _agreement,
        _argument(
            "papers",
            "number of a kept paper, as in the address of the app; with --dataset, id of an instance; with"
            " --construction, id of a build",
            metavar="PAPER",
            nargs="+",
        ),
        _argument("--dataset", "a dataset in the store, whose instances were marked", metavar="NAME"),
        _argument(
            "--annotators",
            "two names; of an instance one may be gold, the dataset's own; of a build 'NAME (blind)',"
            " 'NAME (assisted)' and the model, as *Mark evidence* lists them",
            metavar=("A", "B"),
            nargs=2,
            required=True,
        ),
        _argument(
            "--resamples",
            "of each bootstrap (default: %(default)s)",
            type=positive,
            default=10_000,
            metavar="N",
        ),
    ),
}


VERBS: Final = {"analyse": (_add_arguments, _run)}
