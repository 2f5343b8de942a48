"""Scores, computed from stored retrievals whenever they are asked for; never stored themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.metrics import Denominator
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
    denominator: Denominator = "all",
    seed: int = 0,
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
    denominator : {"all", "coverable"}
        Whether aspects that no sentence covers count (spec rule 7).
    seed : int
        Of the bootstrap.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task.
    """
    runs, chosen = RunStore(store), _task(task)
    run = runs.run(run_id)
    gold, selections = store.gold(run.dataset), runs.selections(run.id, chosen.name)
    return score(chosen, gold, selections, missing=missing, denominator=denominator, seed=seed)


def compare_runs(store: Store, a: str, b: str, task: str | Task, seed: int = 0) -> ScoreComparison:
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
    scores = [score_run(store, run.id, task, seed=seed) for run in (run_a, run_b)]
    return compare_scores(scores[0], scores[1], seed=seed)


def score_predictions(
    store: Store,
    dataset: str,
    predictions: Mapping[str, object],
    task: str | Task,
    missing: Missing = "report",
    denominator: Denominator = "all",
    seed: int = 0,
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
    gold = store.gold(dataset)
    return score(_task(task), gold, picks, missing=missing, denominator=denominator, seed=seed)


def _task(task: str | Task) -> Task:
    return task if isinstance(task, Task) else task_named(task)
