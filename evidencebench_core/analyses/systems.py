"""Systems side by side: recalls of runs over the instances that all have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task, recalls_of, task_named, validated_selections


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """R systems over the n instances that every one of them is scored on.

    Attributes
    ----------
    where : str
        The dataset, or the collection that imported scores stand on.
    keys, labels : tuple of str, length R
        A run's id and label; an imported system's name, twice.
    ids : tuple of str, length n
        Instances; of a collection the positions, ``"#1"`` first: it has no ids.
    papers : tuple of str, length n, or None
        Paper of each instance; ``None`` where that is not known.
    values : array of float, shape (R, n)
        Aspect Recall, 0 to 1.
    notes : tuple of str
        What was left out, and why.
    """

    task: Task
    where: str
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    ids: tuple[str, ...]
    papers: tuple[str, ...] | None
    values: NDArray[np.float64]
    notes: tuple[str, ...]

    def only(self, *keys: str) -> Systems:
        """Some of the systems, in this order, over the same instances."""
        places = [self.keys.index(key) for key in keys]
        labels = tuple(self.labels[place] for place in places)
        return replace(self, keys=keys, labels=labels, values=self.values[places])


def systems(store: Store, runs: Sequence[str], task: str | Task) -> Systems:
    """Runs over one dataset by id, each once."""
    if not runs:
        raise SettingError(
            "compare", "names no run", "Give the ids of runs; `evidencebench list runs` lists them."
        )
    return systems_of_runs(store, runs_over_one_dataset(store, runs), task_named(task))


def systems_of_runs(store: Store, infos: Sequence[RunInfo], task: Task) -> Systems:
    """Runs over one dataset, at least one: their recalls are those of `score_run`, in one pass over the gold."""
    gold = store.gold(infos[0].dataset).focused(task.focus)
    coverable = gold.per_instance(gold.n_covering > 0) > 0
    answered, recalls = [], []
    for info in infos:
        picks = validated_selections(RunStore(store).selections(info.id, task.name), gold)
        answered.append(np.array([one is not None for one in picks], dtype=bool))
        recalls.append(recalls_of(task, gold, picks))
    shared = np.all([coverable, *answered], axis=0)
    n_missing = [int((coverable & ~one).sum()) for one in answered]
    n_skipped = int((~coverable).sum())
    notes = [
        f"{info.label} has no answer for {count:,} instances: they are left out for all."
        for info, count in zip(infos, n_missing, strict=True)
        if count
    ]
    if n_skipped:
        notes.append(f"Skipped, nothing to cover on this task: {n_skipped:,}.")
    notes += [SUFFICIENT_NOTE] * gold.sufficient
    rows = np.flatnonzero(shared).tolist()
    return Systems(
        task=task,
        where=infos[0].dataset,
        keys=tuple(info.id for info in infos),
        labels=tuple(info.label for info in infos),
        ids=tuple([gold.ids[row] for row in rows]),
        papers=tuple([gold.paper_ids[row] for row in rows]),
        values=np.array([of_run[shared] for of_run in recalls]),
        notes=tuple(notes),
    )


def runs_over_one_dataset(
    store: Store, runs: Sequence[str], dataset: str | None = None
) -> tuple[RunInfo, ...]:
    """Runs by id, each once; where no dataset is named, that of the first is meant."""
    infos = [RunStore(store).run(run) for run in runs]
    for run in infos:
        wanted = dataset or infos[0].dataset
        if run.dataset != wanted:
            raise SettingError(
                f"run {run.id}",
                f"is over dataset {shown(run.dataset)}, not {shown(wanted)}",
                "Take runs over one dataset.",
            )
    return tuple({run.id: run for run in infos}.values())
