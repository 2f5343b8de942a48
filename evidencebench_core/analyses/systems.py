"""Runs side by side: their recalls over the instances that all of them answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from evidencebench_core.analyses.frame import (
    aspects,
    instance_frame,
    left_out_notes,
    picks,
    recalls,
    runs_named,
)
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.metrics import MEASURES
from evidencebench_core.runs import RunLike
from evidencebench_core.tasks import Task, task_named


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """Runs over the instances that every one of them is scored on.

    ``recalls`` has a row an instance and a column a run, by id, 0 to 1; ``labels`` are by run id; ``papers`` are those
    of the rows; ``notes`` say what was left out, and why.
    """

    task: Task
    dataset: str
    labels: Mapping[str, str]
    recalls: pd.DataFrame
    papers: Sequence[str]
    notes: tuple[str, ...] = ()


def systems(store: Store, runs: Sequence[RunLike], task: str | Task) -> Systems:
    """Runs over one dataset by id, each once."""
    infos, chosen = runs_named(store, runs), task_named(task)
    if not infos:
        raise SettingError(
            "compare", "names no run", "Give the ids of runs; `evidencebench list runs` lists them."
        )
    dataset = infos[0].dataset
    asked = aspects(store, dataset, chosen).n_asked > 0
    table = pd.DataFrame({info.id: recalls(store, info, chosen) for info in infos})[asked]
    missing = {f"instances that {info.label} has not answered": table[info.id].isna().sum() for info in infos}
    skipped = {"instances without anything to cover": (~asked).sum()}
    common = table.dropna()
    papers = instance_frame(store, dataset).set_index("instance")["paper"]
    notes = (*left_out_notes(missing | skipped), *store.dataset(dataset).gold_notes)
    labels = {info.id: info.label for info in infos}
    return Systems(chosen, dataset, labels, common, papers[common.index].tolist(), notes)


def further_measures(store: Store, compared: Systems) -> pd.DataFrame:
    """The means of every measure but Aspect Recall over the same instances: a row a run, if it has picks."""
    instances = instance_frame(store, compared.dataset)["instance"].to_numpy()
    selections = {}
    for info in runs_named(store, list(compared.labels)):
        if not info.has_picks:
            continue
        frame = picks(store, info, compared.task).frame
        selections[info.id] = frame["sentence"].groupby(instances[frame["row"]]).agg(tuple).to_dict()
    rows = []
    for name, evidence in store.evidence_sets(compared.dataset, compared.recalls.index):
        covers, budget = evidence.covers(compared.task.focus), compared.task.budget_for(evidence)
        for run, of_run in selections.items():
            values = [measure.function(of_run.get(name, ()), covers, budget) for measure in MEASURES[1:]]
            rows.append((run, *values))
    names = [measure.name for measure in MEASURES[1:]]
    return (
        pd.DataFrame(rows, columns=["run", *names]).astype(dict.fromkeys(names, float)).groupby("run").mean()
    )
