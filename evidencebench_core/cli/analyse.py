"""``evidencebench analyse WHAT``: a function a question, every one with a report."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typer import Option

from evidencebench_core.cli import options
from evidencebench_core.cli.frame import Report, Store, group, verb
from evidencebench_core.errors import SettingError

ANALYSE = group("analyse", "Answer a question about runs or a dataset.")


@verb("missed bm25 --task result-er@optimal", within=ANALYSE, tables=True)
def missed(
    store: Store,
    run: options.RunId,
    task: options.Task = "result-er@optimal",
    every: bool = Option(False, "--all", help="all aspects, not the result aspects only"),
) -> Report:
    """Missed aspects with their causes."""
    from evidencebench_core.analyses.missed import missed as report_of

    return report_of(store, run, task, results_only=not every)


@verb("verdicts bm25 --n 50 --seed 0", within=ANALYSE, tables=True)
def verdicts(
    store: Store,
    runs: options.RunIds,
    task: options.Task = "result-er@optimal",
    n: int = Option(50, metavar="N", min=1, help="how many missed aspects are drawn"),
    seed: int = Option(0, metavar="S", min=0, max=2**32 - 1, help="of the draw"),
    stratified: bool = Option(False, "--stratified", help="equally many of each run"),
    every: bool = Option(False, "--all", help="of all aspects, not the result aspects only"),
) -> Report:
    """Causes that readers noted on a random draw of misses."""
    from evidencebench_core.analyses.verdicts import verdicts as report_of

    return report_of(store, runs, task, n=n, seed=seed, stratified=stratified, results_only=not every)


@verb("positions bm25 lead --task er@10", within=ANALYSE, tables=True)
def positions(
    store: Store,
    runs: options.SomeRuns = None,
    dataset: options.SomeDataset = None,
    task: options.Task = "er@optimal",
    buckets: int = Option(10, metavar="N", min=1, max=100, help="into how many parts"),
) -> Report:
    """Recall by position in the paper."""
    from evidencebench_core.analyses.positions import positions as report_of

    return report_of(store, _dataset_of(store, runs, dataset), runs or (), task, buckets=buckets)


@verb("ends bm25 --task er@10", within=ANALYSE, tables=True)
def ends(
    store: Store,
    runs: options.SomeRuns = None,
    dataset: options.SomeDataset = None,
    task: options.Task = "er@optimal",
) -> Report:
    """Evidence at the ends against the middle."""
    from evidencebench_core.analyses.ends import ends as report_of

    return report_of(store, _dataset_of(store, runs, dataset), runs or (), task)


@verb("variants bm25 --question spelling", within=ANALYSE, tables=True)
def variants(
    store: Store,
    runs: options.RunIds,
    task: options.Task = "er@optimal",
    question: Literal["paraphrases", "negation", "spelling"] = "paraphrases",
) -> Report:
    """What other wordings do to runs."""
    from evidencebench_core.analyses.wording import wording

    return wording(store, runs, task, question)


@verb("slices bm25 lead --task er@10", within=ANALYSE, tables=True)
def slices(store: Store, runs: options.RunIds, task: options.Task = "er@optimal") -> Report:
    """Runs on parts of the dataset, against the first."""
    from evidencebench_core.analyses.slices import slices as report_of

    return report_of(store, runs, task)


@verb("dataset train", within=ANALYSE, tables=True)
def dataset(store: Store, name: options.DatasetName) -> Report:
    """The make-up of a dataset."""
    from evidencebench_core.analyses.dataset import dataset_report

    return dataset_report(store, name)


@verb("mesh train --headings mesh.csv --tree mtrees2026.bin", within=ANALYSE, tables=True)
def mesh(
    store: Store,
    name: options.DatasetName,
    headings: Path = Option(..., metavar="FILE", help="CSV or TSV with paper_id and descriptor"),
    tree: Path = Option(..., metavar="FILE", help="mtreesYYYY.bin of the National Library of Medicine"),
    reference: Path | None = Option(None, metavar="FILE", help="headings of a sample to compare with"),
) -> Report:
    """The branches of MeSH that papers are in."""
    from evidencebench_core.analyses.mesh import mesh_report

    return mesh_report(store, name, headings, tree, reference)


@verb("agreement --annotator Ada --annotator Ben --annotator gold", within=ANALYSE, tables=True)
def agreement(
    store: Store,
    dataset: options.SomeDataset = None,
    annotators: list[str] | None = Option(None, "--annotator", metavar="NAME", help="one of two or more"),
) -> Report:
    """How alike people mark evidence, and people and models."""
    from evidencebench_core.annotation.agreement import agreement as report_of
    from evidencebench_core.annotation.marked import marked_papers

    names = list(dict.fromkeys(annotators or ()))
    if len(names) < 2:
        raise SettingError("--annotator", f"names {len(names)}", "Name two annotators or more.")
    return report_of(store, marked_papers(store, dataset), names)


def _dataset_of(store: Store, runs: list[str] | None, dataset: str | None) -> str:
    from evidencebench_core.runs import RunStore

    if dataset is not None:
        return store.dataset(dataset).name
    if not runs:
        raise SettingError("analyse", "names neither a run nor a dataset", "Give RUN, or --dataset NAME.")
    return RunStore(store).run(runs[0]).dataset
