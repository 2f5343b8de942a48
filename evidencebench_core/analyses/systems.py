"""Runs side by side: their recalls over the instances that all of them answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.analyses.frame import runs_named
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.metrics import expected_recall
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.runs.results import papers_of
from evidencebench_core.tasks import Task, task_named, validated_selection


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """R runs over the n instances that every one of them is scored on.

    ``keys`` and ``labels`` are run ids and labels; ``papers`` the paper of each of the ``ids``; ``values`` the Aspect
    Recall, 0 to 1, shape (R, n); ``notes`` say what was left out, and why.
    """

    task: Task
    where: str
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    ids: tuple[str, ...]
    papers: tuple[str, ...]
    values: NDArray[np.float64]
    notes: tuple[str, ...]

    def only(self, *keys: str) -> Systems:
        """Some of the runs, in this order, over the same instances."""
        places = [self.keys.index(key) for key in keys]
        labels = tuple(self.labels[place] for place in places)
        return replace(self, keys=keys, labels=labels, values=self.values[places])


def systems(store: Store, runs: Sequence[str], task: str | Task) -> Systems:
    """Runs over one dataset by id, each once."""
    if not runs:
        raise SettingError(
            "compare", "names no run", "Give the ids of runs; `evidencebench list runs` lists them."
        )
    return systems_of_runs(store, runs_named(store, runs), task_named(task))


def systems_of_runs(store: Store, infos: Sequence[RunInfo], task: Task) -> Systems:
    """Runs over one dataset, at least one: their recalls are those of `score_run`."""
    dataset = infos[0].dataset
    selections = [RunStore(store).selections(info.id, task.name) for info in infos]
    recalls: dict[str, list[float]] = {}
    n_missing, n_skipped = [0] * len(infos), 0
    for name, evidence in store.evidence_sets(dataset):
        covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
        if not covers:
            n_skipped += 1
            continue
        answered = [name in of_run for of_run in selections]
        n_missing = [n + (not here) for n, here in zip(n_missing, answered, strict=True)]
        if all(answered):
            chosen = [validated_selection(of_run[name], evidence.n_sentences, name) for of_run in selections]
            recalls[name] = [expected_recall(picks, covers, budget) or 0.0 for picks in chosen]
    notes = [
        f"{info.label} has no answer for {count:,} instances: they are left out for all."
        for info, count in zip(infos, n_missing, strict=True)
        if count
    ]
    if n_skipped:
        notes.append(f"Skipped, nothing to cover on this task: {n_skipped:,}.")
    notes += store.dataset(dataset).gold_notes
    papers = papers_of(store, dataset)
    return Systems(
        task=task,
        where=dataset,
        keys=tuple(info.id for info in infos),
        labels=tuple(info.label for info in infos),
        ids=tuple(recalls),
        papers=tuple([papers[name] for name in recalls]),
        values=np.array(list(recalls.values())).reshape(len(recalls), len(infos)).T,
        notes=tuple(notes),
    )
