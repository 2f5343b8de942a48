"""Scores, computed from stored retrievals whenever they are asked for; never stored themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import (
    Missing,
    Score,
    ScoreComparison,
    Task,
    compare_scores,
    score,
    task_named,
)


def score_run(
    store: Store,
    run_id: str,
    task: str | Task,
    missing: Missing = "report",
) -> Score:
    """The score of a run on a task, over the whole dataset: unanswered instances are missing.

    Parameters
    ----------
    store : Store
    run_id : str
        An id, or the beginning of one.
    task : str or Task
    missing : {"report", "zero"}
        Whether a missing instance is left out of the mean and named, or counted as 0.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task.
    """
    runs, chosen = RunStore(store), _task(task)
    run = runs.run(run_id)
    return _score(store, run.dataset, runs.selections(run.id, chosen.name), chosen, missing)


def compare_runs(store: Store, a: str, b: str, task: str | Task) -> ScoreComparison:
    """Two runs over one dataset, paired by instance.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task; runs over different datasets.
    """
    runs = RunStore(store)
    run_a, run_b = runs.run(a), runs.run(b)
    if run_a.dataset != run_b.dataset:
        raise SettingError(
            f"runs {run_a.id} and {run_b.id}",
            f"are over different datasets, {shown(run_a.dataset)} and {shown(run_b.dataset)}",
            "Only runs over one dataset can be paired by instance.",
        )
    scores = [score_run(store, run.id, task) for run in (run_a, run_b)]
    return compare_scores(scores[0], scores[1], papers_of(store, run_a.dataset))


def score_predictions(
    store: Store,
    dataset: str,
    predictions: Mapping[str, object],
    task: str | Task,
    missing: Missing = "report",
) -> Score:
    """The score of anybody's predictions, instance id to sentence indices.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset or task.
    SelectionError
        Predictions for instances that the dataset does not have; indices that are not integers, or that
        the paper does not have.
    """
    picks = cast("Mapping[str, Sequence[int]]", predictions)  # checked there, one by one
    return _score(store, dataset, picks, _task(task), missing)


def _score(
    store: Store, dataset: str, selections: Mapping[str, Sequence[int]], task: Task, missing: Missing
) -> Score:
    return score(
        task,
        store.evidence_sets(dataset),
        selections,
        missing=missing,
        papers=papers_of(store, dataset),
        sufficient=store.dataset(dataset).sufficient,
    )


def papers_of(store: Store, dataset: str) -> dict[str, str]:
    """Paper id by instance id, in the order of the file."""
    return store.paper_ids(dataset)


def _task(task: str | Task) -> Task:
    return task if isinstance(task, Task) else task_named(task)
