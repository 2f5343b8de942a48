"""Runs compared on parts of a dataset that mean something: which instances make the difference?

Slices go by section, length, aspects, optimal K, and where evidence stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.ends import FEW, group_frame
from evidencebench_core.analyses.frame import instance_frame
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import Systems, systems
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.stats import interval, paired
from evidencebench_core.tasks import Task

SECTIONS_UP_TO: Final = 5_000  # instances: to know sections, every paper must be read
_HEAD: Final = ("family", "slice", "n", "few")

Slices = dict[str, NDArray[np.bool_]]
"""By name, in their order: which instances are in it."""


def slices(
    store: Store, runs: Sequence[str], task: str | Task = "er@optimal", *, instances: bool = False
) -> Report:
    """Recall of runs, and differences to the first, slice by slice; see `slice_report`."""
    compared = systems(store, runs, task)
    families, notes = slices_of(store, compared.where, compared.ids, compared.task)
    return slice_report(compared, families, notes, instances=instances)


def slice_report(
    compared: Systems,
    families: Mapping[str, Slices],
    notes: Sequence[str] = (),
    *,
    instances: bool = False,
) -> Report:
    """The same for systems and slices at hand, by the family of slices.

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
    recalls: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    listed: list[pd.DataFrame] = []
    papers, ids = np.array(compared.papers, dtype=object), np.array(compared.ids, dtype=object)
    for family, its in families.items():
        for name, members in its.items():
            n = int(members.sum())
            head = dict(zip(_HEAD, (family, name, n, n < FEW), strict=True))
            values, its_papers = compared.values[:, members], papers[members].astype(str)
            for key, label, row in zip(compared.keys, compared.labels, values, strict=True):
                estimate = interval(row, its_papers)
                bounds = {"recall": estimate.value, "low": estimate.low, "high": estimate.high}
                recalls.append(head | {"run": key, "label": label, **bounds})
            for key, label, row in zip(compared.keys[1:], compared.labels[1:], values[1:], strict=True):
                pair = paired(row, values[0], its_papers).as_dict()
                names = {"a": key, "b": compared.keys[0], "label_a": label, "label_b": compared.labels[0]}
                differences.append(head | names | {column: pair[column] for column in _OF_PAIR})
            recall_of = dict(zip(compared.keys, values, strict=True))
            listed.append(
                pd.DataFrame({"family": family, "slice": name, "instance": ids[members], **recall_of})
            )
    bounds_names = ["recall", "low", "high"]
    tables = {
        "recall": pd.DataFrame(recalls, columns=[*_HEAD, "run", "label", *bounds_names]),
        "difference": pd.DataFrame(differences, columns=[*_HEAD, "a", "b", "label_a", "label_b", *_OF_PAIR]),
    }
    if instances:
        columns = ["family", "slice", "instance", *compared.keys]
        tables["instances"] = (
            pd.concat(listed, ignore_index=True) if listed else pd.DataFrame(columns=columns)
        )
    return Report(
        f"Slices: {compared.where}, {compared.task.title}",
        tables,
        (
            f"{len(compared.ids):,} instances that every run is scored on; slices of one family do not overlap.",
            *compared.notes,
            *notes,
            f"Intervals: 95%, papers drawn whole. Slices under {FEW} instances are marked: their intervals are too "
            "short. With many slices some difference shows by chance: take one as a question to new data.",
        ),
    )


_OF_PAIR: Final = ("difference", "low", "high", "wins", "ties", "losses")


def slices_of(
    store: Store, dataset: str, ids: Sequence[str], task: Task
) -> tuple[dict[str, Slices], tuple[str, ...]]:
    """Families of slices of these instances, each in order, and which were left out and why.

    The task's focus says which aspects and optimal K count. A family of fewer than two slices is left out.
    """
    every = instance_frame(store, dataset).assign(coverage=group_frame(store, dataset)["coverage"])
    frame = every[every["instance"].isin(set(ids))]
    notes: list[str] = []
    families: dict[str, Slices] = {}
    if len(ids) <= SECTIONS_UP_TO:
        sections = main_sections(store, dataset, ids, task)
        order = [*SECTION_CLASSES, "nowhere"]
        names = [sections[name] for name in frame["instance"]]
        families["section with most aspects"] = _in_order(names, order)
    else:
        notes.append(f"No slices by section: that would read {len(ids):,} papers.")
    of_results = task.focus == "results"
    optimal = frame["results_optimal" if of_results else "optimal"].clip(lower=0)
    families["sentences"] = thirds(frame["n_sentences"])
    families["result aspects" if of_results else "aspects"] = thirds(
        frame["n_results" if of_results else "n_aspects"]
    )
    families["optimal K"] = thirds(optimal)
    families["ends coverage"] = _by_ends(frame["coverage"].to_numpy())
    shares = (100 * frame["n_results"] / frame["n_aspects"].clip(lower=1)).round().astype(int)
    families["share of result aspects"] = thirds(shares, "%")
    for family in [name for name, its in families.items() if len(its) < 2]:
        del families[family]
        notes.append(f"No slices by {family}: all instances are alike in it.")
    return families, tuple(notes)


def thirds(values: Any, unit: str = "") -> Slices:
    """Three slices of about the same size, named by their least and largest value.

    Equal values stay together, so that there may be fewer than three, of unequal size.
    """
    array = np.asarray(values, dtype=np.int64)
    if not array.size:
        return {}
    numbers = np.searchsorted(np.quantile(array, [1 / 3, 2 / 3], method="inverted_cdf"), array, side="left")
    named = {}
    for number in np.unique(numbers):
        members = numbers == number
        low, high = int(array[members].min()), int(array[members].max())
        named[f"{low}{unit}" if low == high else f"{low} to {high}{unit}"] = members
    return named


def main_sections(store: Store, dataset: str, ids: Sequence[str], task: Task) -> dict[str, str]:
    """The section class that covers most aspects of each instance, ``"nowhere"`` where none does.

    Of classes that cover as many, the first in the order of a paper. Reads every paper.
    """
    sections = dict.fromkeys(ids, "nowhere")
    for instance in store.get_many(dataset, ids):
        classes = section_classes(instance.sentences, instance.sentence_types)
        counts: Counter[str] = Counter()
        for aspect in instance.evidence.focused(task.focus):
            counts.update({classes[index] for index in aspect.sentence_indices})
        if counts:
            sections[instance.id] = max(SECTION_CLASSES, key=lambda name: counts[name])
    return sections


def _in_order(names: Sequence[str], order: Sequence[str]) -> Slices:
    array = np.array(names, dtype=object)
    return _not_empty({name: array == name for name in order})


def _by_ends(shares: NDArray[np.float64]) -> Slices:
    """The paper's split: share of all aspects that the first and last 10 sentences cover; none without aspects."""
    return _not_empty(
        {
            "under 20%": shares < 0.2,
            "20 to 80%": (shares >= 0.2) & (shares <= 0.8),
            "over 80%": shares > 0.8,
        }
    )


def _not_empty(named: Slices) -> Slices:
    return {name: members for name, members in named.items() if members.any()}
