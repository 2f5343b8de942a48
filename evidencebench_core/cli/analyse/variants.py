"""``evidencebench analyse variants RUN ...``"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.analyses import Report
from evidencebench_core.cli.arguments import store_of
from evidencebench_core.cli.output import note

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.analyses.variant_runs import Asked
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import Variant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add_runs(parser)
    parser.add_argument(
        "--variants",
        type=Path,
        metavar="FILE",
        help="first keep the wordings of this file beside the dataset:"
        ' {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}',
    )
    parser.add_argument(
        "--only", choices=("paraphrases", "negation"), help="one of the two questions (default: both)"
    )
    parser.add_argument(
        "--no-rules", action="store_true", help="without the negations that are made by rule (negation:rules)"
    )


def add_runs(parser: argparse.ArgumentParser) -> None:
    """The arguments that all analyses of wording share."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="id, or the beginning of it, of a run over the original hypotheses",
    )
    parser.add_argument(
        "--stored-only", action="store_true", help="do not ask the retriever what it was not asked before"
    )


def report(args: argparse.Namespace) -> Report:
    """Paraphrases and negation of every run, one table a question."""
    from evidencebench_core.analyses.sensitivity import (
        negation_report,
        negation_variants,
        paraphrase_report,
        paraphrase_variants,
    )
    from evidencebench_core.cli.variant_drafts import keep_file
    from evidencebench_core.runs import RunStore

    store = store_of(args)
    if args.variants is not None:
        keep_file(store, RunStore(store).run(args.runs[0]).dataset, args.variants)
    reports = []
    if args.only != "negation":
        reports.append(report_of_runs(store, args, paraphrase_variants, paraphrase_report))
    if args.only != "paraphrases":
        by_rules = not args.no_rules
        reports.append(
            report_of_runs(
                store,
                args,
                lambda store, dataset: negation_variants(store, dataset, by_rules),
                lambda store, asked: negation_report(store, asked, by_rules=by_rules),
            )
        )
    if len(reports) == 1:
        return reports[0]
    tables = {name: table for one in reports for name, table in one.tables.items() if name != "published"}
    published = [one.tables["published"] for one in reports]
    return Report(
        "; ".join(one.title for one in reports),
        {**tables, "published": stacked(published)},
        tuple(dict.fromkeys(line for one in reports for line in one.notes)),
    )


def report_of_runs(
    store: Store,
    args: argparse.Namespace,
    variants_of: Callable[[Store, str], Sequence[Variant]],
    report_of: Callable[[Store, Asked], Report],
) -> Report:
    """The same report for every run, its tables below each other with the run in the first column."""
    from evidencebench_core.analyses.variant_runs import Asked
    from evidencebench_core.errors import SettingError
    from evidencebench_core.runs import RunStore
    from evidencebench_core.tasks import task_named

    reports: list[Report] = []
    task = task_named(args.task)
    runs = tuple({run.id: run for run in map(RunStore(store).run, args.runs)}.values())
    for run in runs:
        if run.variant:
            raise SettingError(
                f"run {run.id}",
                f"is itself one over a variant, {run.variant}",
                "Name the run over the original hypotheses: `evidencebench runs` lists them.",
            )
        asked = Asked(run.dataset, run.retriever, run.settings, task)
        if not args.stored_only:
            _ask_missing(store, asked, (None, *variants_of(store, run.dataset)))
        reports.append(report_of(store, asked))
    tables = {}
    for name in reports[0].tables:
        frames = [one.tables[name] for one in reports]
        if name == "published":
            tables[name] = frames[0]
            continue
        for run, frame in zip(runs, frames, strict=True):
            frame.insert(0, "run", run.label)
        tables[name] = stacked(frames)
    question = reports[0].title.partition(":")[0]
    names = ", ".join(run.label for run in runs)
    title = f"{question}: {names} on {runs[0].dataset}, {task.title}"
    return Report(title, tables, tuple(dict.fromkeys(line for one in reports for line in one.notes)))


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables below each other."""
    import pandas as pd

    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def _ask_missing(store: Store, asked: Asked, variants: Sequence[Variant | None]) -> None:
    from evidencebench_core.analyses.variant_runs import n_unanswered, run_variants
    from evidencebench_core.cli.progress import progress_bar

    missing = n_unanswered(store, asked, variants)
    if not missing:
        return
    note(f"{asked.retriever}: {missing:,} queries over {len(variants)} wordings have no answer yet")
    steps = run_variants(store, asked, variants)
    first = next(steps)
    with progress_bar(first.total, "instances", first.done) as bar:
        for step in steps:
            bar.update(step.done - bar.n)
