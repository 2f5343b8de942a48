"""Scores of runs, and of anybody's predictions, over a whole dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evidencebench_core.data.store import Store
from evidencebench_core.retrievers.own import ranking_of_scores
from evidencebench_core.runs.store import RunInfo, RunStore
from evidencebench_core.tasks import Missing, Score, Task, score, task_named

Predictions = Mapping[str, Sequence[int] | Mapping[str, float]]


def score_run(store: Store, run: RunInfo | str, task: str | Task, missing: Missing = "report") -> Score:
    """The score of a run on a task, over the whole dataset or the sample that the run is of.

    Instances without an answer are left out of the mean and named (``missing="report"``), or counted as 0 (``"zero"``).
    """
    runs = RunStore(store)
    info = run if isinstance(run, RunInfo) else runs.run(run)
    dataset = store.dataset(info.dataset)
    return score(
        task_named(task),
        store.evidence_sets(dataset, info.sample.ids(store, dataset) if info.sample else None),
        runs.selections(info, task),
        missing=missing,
        papers=store.paper_ids(dataset),
        sufficient=dataset.sufficient,
    )


def score_predictions(
    store: Store, dataset: str, predictions: Predictions, task: str | Task, missing: Missing = "report"
) -> Score:
    """The score of anybody's predictions: by instance id sentence indices, or ``{index: score}``, a ranking.

    A ranking is cut at K; of a list that is longer the expected recall of K of its sentences counts.
    `SelectionError` for instances that the dataset does not have, and for what is no index of a sentence.
    """
    chosen, info = task_named(task), store.dataset(dataset)
    gold = dict(store.evidence_sets(info))
    selections: dict[str, Any] = dict(predictions)
    for name, picks in predictions.items():
        if isinstance(picks, Mapping) and name in gold:
            ranking = ranking_of_scores(picks, gold[name].n_sentences, name)
            selections[name] = ranking.cut(chosen.budget_for(gold[name])).selection
    return score(
        chosen,
        gold.items(),
        selections,
        missing=missing,
        papers=store.paper_ids(info),
        sufficient=info.sufficient,
    )
