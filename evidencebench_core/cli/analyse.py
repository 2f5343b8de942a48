"""``evidencebench analyse WHAT``: a function a question, every one with a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from evidencebench_core.cli.emit import emit
from evidencebench_core.cli.frame import (
    Json,
    RunId,
    RunIds,
    SomeDataset,
    StorePath,
    Task,
    group,
    opened,
    verb,
)
from evidencebench_core.errors import SettingError

if TYPE_CHECKING:
    from evidencebench_core.data import Store

ANALYSE = group("analyse", "Answer a question about runs or a dataset.")

Tables = Annotated[
    Path | None,
    Option("--out", metavar="FILE", help="write the tables there as CSV, each with its name in the file's"),
]
SomeRuns = Annotated[list[str] | None, Argument(metavar="RUN", help="ids of runs, or their beginnings")]
Dataset = Annotated[str, Argument(metavar="DATASET", help="a dataset in the store")]


@verb(within=ANALYSE)
def missed(
    *,
    run: RunId,
    task: Task = "result-er@optimal",
    every: Annotated[bool, Option("--all", help="all aspects, not the result aspects only")] = False,
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Missed aspects with their causes.

    Example: evidencebench analyse missed 3f2a --task result-er@optimal
    """
    from dataclasses import replace

    from evidencebench_core.analyses.missed import SHORT_COLUMNS
    from evidencebench_core.analyses.missed import missed as missed_report

    report = missed_report(opened(store), run, task, results_only=not every)
    if not json and out is None:
        short = report.tables["missed"][SHORT_COLUMNS]
        report = replace(report, tables={**report.tables, "missed": short})
    emit(report, json, out)


@verb(within=ANALYSE)
def positions(
    *,
    runs: SomeRuns = None,
    dataset: SomeDataset = None,
    task: Task = "er@optimal",
    buckets: Annotated[int, Option(metavar="N", min=1, max=100, help="into how many parts")] = 10,
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Recall by position in the paper.

    Example: evidencebench analyse positions 3f2a 81bc --task er@10
    """
    from evidencebench_core.analyses.positions import positions as report_of

    its = opened(store)
    emit(report_of(its, _dataset_of(its, runs, dataset), runs or (), task, buckets=buckets), json, out)


@verb(within=ANALYSE)
def ends(
    *,
    runs: SomeRuns = None,
    dataset: SomeDataset = None,
    task: Task = "er@optimal",
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Evidence at the ends against the middle.

    Example: evidencebench analyse ends 3f2a --task er@10
    """
    from evidencebench_core.analyses.ends import ends as report_of

    its = opened(store)
    emit(report_of(its, _dataset_of(its, runs, dataset), runs or (), task), json, out)


@verb(within=ANALYSE)
def variants(
    *,
    runs: RunIds,
    task: Task = "er@optimal",
    question: Annotated[
        Literal["paraphrases", "negation", "spelling"],
        Option(help="which wordings; `run --variant` asks them"),
    ] = "paraphrases",
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """What other wordings do to runs.

    Example: evidencebench analyse variants 3f2a --question negation
    """
    from evidencebench_core.analyses.wording import wording

    emit(wording(opened(store), runs, task, question), json, out)


@verb(within=ANALYSE)
def slices(
    *,
    runs: RunIds,
    task: Task = "er@optimal",
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Runs on parts of the dataset, against the first.

    Example: evidencebench analyse slices 3f2a 81bc --task er@10
    """
    from evidencebench_core.analyses.slices import slices as report_of

    emit(report_of(opened(store), runs, task), json, out)


@verb(within=ANALYSE)
def dataset(
    *,
    name: Dataset,
    all_papers: Annotated[
        bool, Option("--all-papers", help="read all papers, not those of 2,000 instances at most")
    ] = False,
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """The make-up of a dataset.

    Example: evidencebench analyse dataset train
    """
    from evidencebench_core.analyses.dataset import READ, dataset_report

    emit(dataset_report(opened(store), name, None if all_papers else READ), json, out)


@verb(within=ANALYSE)
def mesh(
    *,
    name: Dataset,
    headings: Annotated[Path, Option(metavar="FILE", help="CSV or TSV with paper_id and descriptor")],
    tree: Annotated[Path, Option(metavar="FILE", help="mtreesYYYY.bin of the National Library of Medicine")],
    reference: Annotated[
        Path | None, Option(metavar="FILE", help="headings of a sample to compare with")
    ] = None,
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """The branches of MeSH that papers are in.

    Example: evidencebench analyse mesh train --headings mesh.csv --tree mtrees2026.bin
    """
    from evidencebench_core.analyses.mesh import mesh_report

    emit(mesh_report(opened(store), name, headings, tree, reference), json, out)


@verb(within=ANALYSE)
def agreement(
    *,
    papers: Annotated[list[str], Argument(metavar="PAPER", help="kept papers by number, or instances")],
    dataset: SomeDataset = None,
    annotators: Annotated[
        list[str] | None, Option("--annotator", metavar="NAME", help="whom to compare (may be repeated)")
    ] = None,
    out: Tables = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """How alike annotators mark evidence.

    Example: evidencebench analyse agreement 3 7 --annotator Ada --annotator gold
    """
    from evidencebench_core.annotation.agreement import agreement as report_of
    from evidencebench_core.annotation.marked import instance_key, marked_paper

    its = opened(store)
    if len(annotators or ()) != 2:
        raise SettingError("--annotator", f"is given {len(annotators or ())} times", "Name two annotators.")
    if dataset is None:
        keys = [paper if ":" in paper else f"own:{paper}" for paper in papers]
    else:
        keys = [instance_key(its.dataset(dataset), paper) for paper in papers]
    emit(report_of(its, [marked_paper(its, key) for key in keys], annotators or ()), json, out)


def _dataset_of(store: Store, runs: list[str] | None, dataset: str | None) -> str:
    """The dataset that is named, or that of the first run."""
    from evidencebench_core.runs import RunStore

    if dataset is not None:
        return store.dataset(dataset).name
    if not runs:
        raise SettingError("analyse", "names neither a run nor a dataset", "Give RUN, or --dataset NAME.")
    return RunStore(store).run(runs[0]).dataset
