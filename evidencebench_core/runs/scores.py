"""Scores of runs, and of anybody's predictions, over a whole dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidencebench_core.data.store import Store
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Missing, Score, Task, score, task_named


def score_run(store: Store, run_id: str, task: str | Task, missing: Missing = "report") -> Score:
    """The score of a run on a task, over the whole dataset.

    Instances without an answer are left out of the mean and named (``missing="report"``), or counted as 0 (``"zero"``).
    """
    runs, chosen = RunStore(store), task_named(task)
    run = runs.run(run_id)
    return score_predictions(store, run.dataset, runs.selections(run.id, chosen.name), chosen, missing)


def score_predictions(
    store: Store,
    dataset: str,
    predictions: Mapping[str, Sequence[int]],
    task: str | Task,
    missing: Missing = "report",
) -> Score:
    """The score of anybody's predictions, instance id to sentence indices.

    `SelectionError` for instances that the dataset does not have, and for what is no index of a sentence.
    """
    return score(
        task_named(task),
        store.evidence_sets(dataset),
        predictions,
        missing=missing,
        papers=store.paper_ids(dataset),
        sufficient=store.dataset(dataset).sufficient,
    )
