"""Papers whose evidence stands at the ends against papers whose evidence stands in the middle.

Appendix K of the EvidenceBench paper: where the first and last 10 sentences cover over 80% of the aspects, models
find more than where they cover less than 20%.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import (
    effects_text,
    gold_frame,
    instance_frame,
    left_out_notes,
    runs_named,
)
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunLike, RunStore
from evidencebench_core.stats import interval_note, ratios
from evidencebench_core.tasks import Score, Task, score, task_named

GROUPS: Final = {
    "above": "first 10 and last 10 sentences cover over 80% of the aspects",
    "neither": "neither",
    "below": "first 10 and last 10 sentences cover under 20% of the aspects",
}
FEW: Final = 20  # a group of fewer instances is marked
_ENDS: Final = 10  # sentences
_OF_SCORE: Final = ("n", "n_missing", "n_skipped", "recall", "low", "high", "standard_error")


def ends(store: Store, dataset: str, runs: Sequence[RunLike] = (), task: str | Task = "er@optimal") -> Report:
    """Recall where the ends cover much against where they cover little; without runs, the groups alone.

    The task is that of the recall; the groups always go by all aspects.

    Returns
    -------
    Report
        *groups*, one row a group: ``group``, ``rule``, ``n_instances``, ``n_papers``, ``share`` of all
        instances, ``n_all_ends`` instances so short that all their sentences are ends.

        *recall*, one row a run and group: ``run``, ``label``, ``group``, ``n`` instances scored,
        ``n_missing`` without an answer and ``n_skipped`` without anything to cover (both left out),
        ``recall`` (mean, 0 to 1; ``low``, ``high``), ``standard_error``, ``ceiling`` and ``chance`` (best possible,
        and expected of random picks, on the same instances), ``few`` (fewer than 20 instances).

        *difference*, one row a run: ``run``, ``label``, ``n_above``, ``n_below``, ``difference`` = recall
        above - recall below (``low``, ``high``), ``chance_difference`` of random picks, ``few``.
    """
    chosen = task_named(task)
    infos = runs_named(store, runs, dataset)
    frame = group_frame(store, dataset)
    groups = dict(zip(frame["instance"], frame["group"], strict=True))
    papers = store.paper_ids(dataset)
    recalls: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    for info in infos:
        selections = RunStore(store).selections(info, chosen)
        scores: dict[str, Score] = {}
        for group in GROUPS:
            members = [name for name in frame["instance"] if groups[name] == group]
            wanted = {name: selections[name] for name in members if name in selections}
            scores[group] = score(chosen, store.evidence_sets(dataset, members), wanted, papers=papers)
        head = {"run": info.id, "label": info.label}
        recalls += [head | {"group": group, **_recall(scores[group])} for group in GROUPS]
        differences.append(head | _difference(scores["above"], scores["below"], papers))
    of_groups = _groups(frame)
    above, _, below = of_groups["share"]
    text = f"The ends cover most of the evidence in {above:.0%} of the papers, and little in {below:.0%}."
    tables = dict[str, pd.DataFrame]()
    if infos:
        tables |= {"difference": pd.DataFrame(differences), "recall": pd.DataFrame(recalls)}
        text = f"Where evidence stands at the ends, compared with the middle, {effects_text(tables['difference'])}."
    tables["groups"] = of_groups
    notes = [*_notes(frame, bool(infos)), *store.dataset(dataset).gold_notes]
    return Report(f"Ends: {chosen.title}", tables, tuple(notes), finding=text)


def group_frame(store: Store, dataset: str) -> pd.DataFrame:
    """Every instance with its group.

    Returns
    -------
    DataFrame
        ``instance``, ``paper``, ``n_sentences``, ``coverage`` (share of its aspects, result aspects or not, that a
        sentence at the ends covers; NaN without aspects), ``group`` (`GROUPS`; ``None`` without aspects).
    """
    instances, gold = instance_frame(store, dataset), gold_frame(store, dataset)
    at_ends = (gold["sentence"] >= 0) & (
        (gold["sentence"] < _ENDS) | (gold["sentence"] >= gold["n_sentences"] - _ENDS)
    )
    covered = gold[at_ends].drop_duplicates(["row", "number"]).groupby("row").size()
    n_covered = covered.reindex(instances.index, fill_value=0)
    coverage = n_covered / instances["n_aspects"].where(instances["n_aspects"] > 0)
    group = np.select([coverage.isna(), coverage > 0.8, coverage < 0.2], ["", "above", "below"], "neither")
    frame = instances[["instance", "paper", "n_sentences"]].assign(coverage=coverage)
    return frame.assign(group=pd.Series(group, dtype=object).where(group != "", None))


def _recall(of_group: Score) -> dict[str, Any]:
    row = of_group.row()
    figures = {name: row[name] for name in _OF_SCORE}
    chance = of_group.random_expectation
    return figures | {"ceiling": of_group.ceiling, "chance": chance, "few": of_group.n_scored < FEW}


def _difference(above: Score, below: Score, papers: dict[str, str]) -> dict[str, Any]:
    recalls = {**above.per_instance, **below.per_instance}
    is_above = np.array([name in above.per_instance for name in recalls], dtype=bool)
    bottoms = np.column_stack([is_above, ~is_above]).astype(float)
    tops = np.array(list(recalls.values()))[:, None] * bottoms
    *_, estimate = ratios(tops, bottoms, [papers[name] for name in recalls], differences=[([0], [1])])
    chances = [group.random_expectation for group in (above, below) if group.random_expectation is not None]
    return {
        "n_above": above.n_scored,
        "n_below": below.n_scored,
        "difference": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "chance_difference": chances[0] - chances[1] if len(chances) == 2 else None,
        "few": min(above.n_scored, below.n_scored) < FEW,
    }


def _groups(frame: pd.DataFrame) -> pd.DataFrame:
    named = frame.assign(all_ends=frame["n_sentences"] <= 2 * _ENDS).groupby("group")
    table = named.agg(
        n_instances=("paper", "size"), n_papers=("paper", "nunique"), n_all_ends=("all_ends", "sum")
    )
    table = table.reindex(list(GROUPS), fill_value=0).rename_axis("group").reset_index()
    table.insert(1, "rule", list(GROUPS.values()))
    table.insert(4, "share", table["n_instances"] / (len(frame) or np.nan))
    return table


def _notes(frame: pd.DataFrame, any_run: bool) -> list[str]:
    n_neither, n_without = int((frame["group"] == "neither").sum()), int(frame["group"].isna().sum())
    notes = [
        f"{n_neither} of {len(frame)} instances are in neither group. Groups go by all aspects, whatever the task.",
        *left_out_notes({"instances without aspects": n_without}),
    ]
    if any_run:
        notes.append(
            f"{interval_note(frame['paper'].nunique())}. In a group of fewer than {FEW} instances (marked few) they "
            "are too short. The groups hold different papers: compare the difference with chance_difference, that of "
            "random picks."
        )
    return notes
