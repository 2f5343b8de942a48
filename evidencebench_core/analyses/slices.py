"""Runs compared on parts of a dataset that mean something: which instances make the difference?

Slices go by section, length, aspects, optimal K, and where evidence stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.comparison import Systems, systems
from evidencebench_core.analyses.ends import FEW, group_frame
from evidencebench_core.analyses.frame import chance_text, estimate_columns, instance_frame, points_text
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.model import Focus
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.runs import RunLike
from evidencebench_core.stats import interval_note, ratios
from evidencebench_core.tasks import Task

SECTIONS_UP_TO: Final = 5_000  # instances: to know sections, every paper must be read
NOWHERE: Final = "nowhere"
_HEAD: Final = ["family", "slice", "n", "few"]
_RECALL: Final = [*_HEAD, "run", "label", "recall", "low", "high"]
_DIFFERENCE: Final = [
    *_HEAD, "a", "b", "label_a", "label_b", "difference", "low", "high", "wins", "ties", "losses",
]  # fmt: skip
_ENDS: Final = ("under 20%", "20 to 80%", "over 80%")


def slices(
    store: Store, runs: Sequence[RunLike], task: str | Task = "er@optimal", *, instances: bool = False
) -> Report:
    """Recall of runs, and differences to the first, slice by slice; see `slice_report`."""
    compared = systems(store, runs, task)
    families = slice_frame(store, compared.dataset, tuple(compared.recalls.index), compared.task)
    return slice_report(compared, families, instances=instances)


def slice_report(compared: Systems, families: pd.DataFrame, *, instances: bool = False) -> Report:
    """The same for systems and slices at hand: a column of `slice_frame` a family.

    Returns
    -------
    Report
        *recall*, one row a slice and run: ``family``, ``slice``, ``n`` instances, ``few`` (fewer than 20),
        ``run``, ``label``, ``recall`` (mean, 0 to 1; ``low``, ``high``).

        *difference*, one row a slice and run but the first: ``family``, ``slice``, ``n``, ``few``, ``a``,
        ``b`` (ids; b is the first run), ``label_a``, ``label_b``, ``difference`` of a and b (-1 to 1;
        ``low``, ``high``), ``wins``, ``ties``, ``losses`` of a.

        *instances*, where asked for, one row a slice and instance: ``family``, ``slice``, ``instance``, and
        the recall of every run under its id.
    """
    recalls, differences, listed = [], [], []
    alike = [name for name in families if families[name].nunique() < 2]
    for family in families.columns.drop(alike):
        for name, table in compared.recalls.groupby(families[family], observed=True):
            papers = np.asarray(compared.papers)[families[family] == name]
            head = {"family": family, "slice": name, "n": len(table), "few": len(table) < FEW}
            recall, difference = _compared(table, papers, compared.labels)
            recalls.append(pd.DataFrame(head | recall))
            differences.append(pd.DataFrame(head | difference))
            listed.append(table.rename_axis("instance").reset_index().assign(family=family, slice=name))
    tables = {"recall": _stacked(recalls, _RECALL), "difference": _stacked(differences, _DIFFERENCE)}
    if instances:
        tables["instances"] = _stacked(listed, ["family", "slice", "instance", *compared.labels])
    reasons = {True: "all instances are alike in it", False: "that would read too many papers"}
    notes = (
        f"{len(compared.recalls):,} instances that every run is scored on; slices of one family do not overlap.",
        *compared.notes,
        *(f"No slices by {name}: {reasons[bool(families[name].notna().any())]}." for name in alike),
        f"{interval_note(len(set(compared.papers)))}. Slices under {FEW} instances are marked: their intervals are too "
        "short. With many slices some difference shows by chance: take one as a question to new data.",
    )
    text = finding(tables["difference"])
    return Report(f"Slices: {compared.dataset}, {compared.task.title}", tables, notes, finding=text)


def finding(difference: pd.DataFrame) -> str:
    """Where a run is furthest from the first; slices of few instances do not count."""
    rows = difference[~difference["few"].astype(bool)].sort_values("difference", key=abs, ascending=False)
    if rows.empty:
        return ""
    row = rows.iloc[0]
    effect = f"{row['label_a']} finds {points_text(row['difference'])} than {row['label_b']}"
    sure = chance_text(row["low"], row["high"])
    return f"They are furthest apart where {row['family']} is {row['slice']}: {effect} ({sure})."


def _stacked(parts: Sequence[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _compared(
    table: pd.DataFrame, papers: np.ndarray, labels: Mapping[str, str]
) -> tuple[dict[str, object], dict[str, object]]:
    """The columns of *recall* and of *difference* on one slice; all figures are over the same draws of papers."""
    first, *others = table.columns
    values = table.to_numpy()
    estimates = ratios(
        values,
        np.ones_like(values),
        papers,
        differences=[([place], [0]) for place in range(1, len(table.columns))],
    )
    recall: dict[str, object] = {"run": list(table.columns), "label": [labels[run] for run in table.columns]}
    against = np.round(values[:, 1:] - values[:, :1], 12)
    difference = {
        "a": others,
        "b": first,
        "label_a": [labels[run] for run in others],
        "label_b": labels[first],
        **estimate_columns(estimates[len(table.columns) :], "difference"),
        "wins": (against > 0).sum(axis=0),
        "ties": (against == 0).sum(axis=0),
        "losses": (against < 0).sum(axis=0),
    }
    return recall | estimate_columns(estimates[: len(table.columns)], "recall"), difference


def slice_frame(store: Store, dataset: str, ids: tuple[str, ...], task: Task) -> pd.DataFrame:
    """By instance, the slice of each family that it is in, as categories in their order; missing where in none.

    The task's focus says which aspects and optimal K count.
    """
    coverage = group_frame(store, dataset)["coverage"]
    frame = instance_frame(store, dataset).assign(coverage=coverage).set_index("instance").loc[list(ids)]
    of_results = task.focus == "results"
    is_readable = len(ids) <= SECTIONS_UP_TO
    sections = (
        main_sections(store, store.dataset(dataset), ids, task.focus) if is_readable else [None] * len(ids)
    )
    at_ends = [frame["coverage"] < 0.2, frame["coverage"] <= 0.8, frame["coverage"] > 0.8]
    shares = (100 * frame["n_results"] / frame["n_aspects"].clip(lower=1)).round()
    families = {
        "section with most aspects": pd.Categorical(sections, [*SECTION_CLASSES, NOWHERE]),
        "sentences": thirds(frame["n_sentences"]),
        "result aspects" if of_results else "aspects": thirds(
            frame["n_results" if of_results else "n_aspects"]
        ),
        "optimal K": thirds(frame["results_optimal" if of_results else "optimal"].clip(lower=0)),
        "ends coverage": pd.Categorical(np.select(at_ends, _ENDS, ""), _ENDS),
        "share of result aspects": thirds(shares, "%"),
    }
    return pd.DataFrame(families, index=frame.index)


def thirds(values: pd.Series, unit: str = "") -> Any:
    """Three slices of about the same size, named by their least and largest value.

    Equal values stay together, so that there may be fewer than three, of unequal size.
    """
    array = values.to_numpy(dtype=np.int64)
    if not array.size:
        return pd.Categorical([])
    numbers = np.searchsorted(np.quantile(array, [1 / 3, 2 / 3], method="inverted_cdf"), array, side="left")
    names = {}
    for number in np.unique(numbers):
        low, high = array[numbers == number].min(), array[numbers == number].max()
        names[number] = f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
    return pd.Categorical([names[number] for number in numbers], list(names.values()))


@lru_cache(maxsize=8)
def main_sections(store: Store, info: DatasetInfo, ids: tuple[str, ...], focus: Focus) -> tuple[str, ...]:
    """The section class that covers most aspects of each instance, ``"nowhere"`` where none does.

    Of classes that cover as many, the first in the order of a paper. Reads the papers.
    """
    sections = []
    for instance in store.get_many(info.name, ids):
        classes = section_classes(instance.sentences, instance.sentence_types)
        counts: Counter[str] = Counter()
        for aspect in instance.evidence.focused(focus):
            counts.update({classes[index] for index in aspect.sentence_indices})
        sections.append(max(SECTION_CLASSES, key=lambda name: counts[name]) if counts else NOWHERE)
    return tuple(sections)
