"""Runs side by side over the instances that all of them answered: which is better, by how much, how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import (
    aspects,
    estimate_columns,
    instance_frame,
    left_out_notes,
    picks,
    points_text,
    recalls,
    runs_named,
)
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.metrics import MEASURES
from evidencebench_core.runs import RunLike
from evidencebench_core.stats import holm, interval, interval_note, paired, standard_error
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import p_text, quantity

_OF_PAIR = ("n", "difference", "low", "high", "p", "wins", "ties", "losses")


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
    gold = dict(store.evidence_sets(compared.dataset))
    for name in compared.recalls.index:
        covers, budget = gold[name].covers(compared.task.focus), compared.task.budget_for(gold[name])
        for run, of_run in selections.items():
            values = [measure.function(of_run.get(name, ()), covers, budget) for measure in MEASURES[1:]]
            rows.append((run, *values))
    names = [measure.name for measure in MEASURES[1:]]
    return (
        pd.DataFrame(rows, columns=["run", *names]).astype(dict.fromkeys(names, float)).groupby("run").mean()
    )


def compare(store: Store, runs: Sequence[RunLike], task: str | Task = "er@optimal") -> Report:
    """Compare any number of runs over one dataset; see `comparison`."""
    compared = systems(store, runs, task)
    return comparison(compared, further_measures(store, compared))


def comparison(compared: Systems, measures: pd.DataFrame | None = None) -> Report:
    """The same for systems at hand, with their means of further measures: a row a run, by id.

    Returns
    -------
    Report
        *systems*, one row a run: ``system`` (run id), ``label``, ``n`` instances, ``n_papers``, ``recall`` (mean, 0 to
        1; ``low``, ``high``), ``standard_error``, and the columns of ``measures``.

        *pairs*, one row a pair, in the order of the runs: ``a``, ``b``, ``label_a``, ``label_b``, ``n``,
        ``difference`` of a and b (-1 to 1; ``low``, ``high``), ``p`` (two-sided sign flips of papers), ``p_holm``
        (corrected for all pairs), ``wins``, ``ties``, ``losses`` of a.
    """
    table, labels, papers = compared.recalls, compared.labels, compared.papers
    overview = pd.DataFrame(
        {
            "system": list(labels),
            "label": list(labels.values()),
            "n": len(table),
            "n_papers": len(set(papers)),
            **estimate_columns([interval(table[run], papers) for run in labels], "recall"),
            "standard_error": [standard_error(table[run]) for run in labels],
        }
    ).astype({"standard_error": float})
    if measures is not None:
        overview = overview.join(measures, on="system")
    rows = []
    for a, b in combinations(labels, 2):
        pair = paired(table[a], table[b], papers).as_dict()
        names = {"a": a, "b": b, "label_a": labels[a], "label_b": labels[b]}
        rows.append(names | {column: pair[column] for column in _OF_PAIR})
    pairs = pd.DataFrame(rows, columns=["a", "b", "label_a", "label_b", *_OF_PAIR])
    p_holm = holm([None if p is None or np.isnan(p) else p for p in pairs["p"]])
    pairs.insert(9, "p_holm", pd.Series(p_holm, dtype=float))
    return Report(
        title=f"Comparison: {compared.dataset}, {compared.task.title}",
        tables={"systems": overview, "pairs": pairs},
        notes=(
            f"{len(table):,} instances from {len(set(papers)):,} papers that every run is scored on, "
            f"{compared.task.budget_text}.",
            *compared.notes,
            f"{interval_note(len(set(papers)))}. p by flipping the signs of whole papers; p_holm corrects it for the "
            f"{quantity(len(pairs), 'pair')} compared here (Holm), and is the one to judge by. Interval and p are two "
            "methods: near 0.05 they may disagree.",
        ),
        shares=[measure.name for measure in MEASURES if measure.is_share],
        finding=finding(overview, pairs),
    )


def finding(overview: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """Which run finds most, and how sure it is that it finds more than the next."""
    best, *others = overview.sort_values("recall", ascending=False, kind="stable").to_dict("records")
    text = f"{best['label']} finds {best['recall']:.1%} of the aspects"
    if not others or not best["n"]:
        return f"{text}."
    names = {best["system"], others[0]["system"]}
    pair = next(row for row in pairs.to_dict("records") if {row["a"], row["b"]} == names)
    p = p_text(pair["p_holm"])
    return f"{text}, {points_text(abs(pair['difference']))} than {others[0]['label']} (p by Holm: {p})."
