"""Scores, computed from stored retrievals whenever they are asked for; never stored themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from evidencebench_core.data.store import Store
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Missing, Score, Task, score, task_named


def score_run(store: Store, run_id: str, task: str | Task, missing: Missing = "report") -> Score:
    """The score of a run on a task, over the whole dataset: unanswered instances are missing.

    Parameters
    ----------
    run_id : str
        An id, or the beginning of one.
    missing : {"report", "zero"}
        Whether a missing instance is left out of the mean and named, or counted as 0.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task.
    """
    runs, chosen = RunStore(store), task_named(task)
    run = runs.run(run_id)
    return score_predictions(store, run.dataset, runs.selections(run.id, chosen.name), chosen, missing)


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
        Predictions for instances that the dataset does not have; indices that are not integers, or that the paper
        does not have.
    """
    return score(
        task_named(task),
        store.evidence_sets(dataset),
        cast("Mapping[str, Sequence[int]]", predictions),  # checked there, one by one
        missing=missing,
        papers=store.paper_ids(dataset),
        sufficient=store.dataset(dataset).sufficient,
    )
