"""Runs compared on parts of a dataset that mean something: which instances make the difference?

Slices go by study design, section, length, aspects, optimal K, and where evidence stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.analyses.ends import ends_coverage
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import Systems, systems
from evidencebench_core.data import designs, paper_texts
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.stats import cluster_numbers, resampled_groups
from evidencebench_core.tasks import Task

FEW: Final = 20  # a slice of fewer instances is marked
SECTIONS_UP_TO: Final = 5_000  # instances: to know sections, every paper must be read
_DESIGNS: Final = 8  # the most frequent; the others share a slice
_LARGE: Final = 5_000  # instances, from which on fewer resamples are as good
_FEWER: Final = 1_000
_HEAD: Final = ("family", "slice", "n", "few")

Slices = dict[str, NDArray[np.bool_]]
"""By name, in their order: which instances are in it."""


def slices(
    store: Store,
    runs: Sequence[str],
    task: str | Task = "er@optimal",
    *,
    n_resamples: int = 10_000,
) -> Report:
    """Recall and differences of runs to the first, slice by slice; see `slice_report`."""
    compared = systems(store, runs, task)
    families, notes = slices_of(store, compared.where, compared.ids, compared.task)
    return slice_report(compared, families, notes, n_resamples=n_resamples)


def slice_report(
    compared: Systems,
    families: Mapping[str, Slices],
    notes: Sequence[str] = (),
    *,
    n_resamples: int = 10_000,
    instances: bool = False,
) -> Report:
    """The same for systems and slices at hand, by the family of slices; see `slices_of`.

    At most 1,000 resamples from 5,000 instances on. ``instances`` asks for the table of that name.

    Returns
    -------
    Report
        *recall*, one row a slice and run: ``family``, ``slice``, ``n`` instances, ``few`` (fewer than 20),
        ``run``, ``label``, ``recall`` (mean, 0 to 1; ``low``, ``high``: 95%, papers being drawn).

        *difference*, one row a slice and run but the first: ``family``, ``slice``, ``n``, ``few``, ``a``,
        ``b`` (ids; b is the first run), ``label_a``, ``label_b``, ``difference`` of a and b (-1 to 1;
        ``low``, ``high``: 95%, paired), ``wins``, ``ties``, ``losses`` of a.

        *instances*, where asked for, one row a slice and instance: ``family``, ``slice``, ``instance``, and
        the recall of every run under its id.
    """
    named = [(family, name, chosen) for family, its in families.items() for name, chosen in its.items()]
    recalls: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    if compared.ids and named:
        n_resamples = min(n_resamples, _FEWER) if len(compared.ids) >= _LARGE else n_resamples
        groups = np.array([members for _, _, members in named])
        numbers = cluster_numbers(compared.papers, len(compared.ids))
        drawn = resampled_groups(compared.values, groups, numbers, np.random.default_rng(0), n_resamples)
        for place, (family, name, members) in enumerate(named):
            n = int(members.sum())
            head = dict(zip(_HEAD, (family, name, n, n < FEW), strict=True))
            known = drawn[:, place]
            if compared.papers is not None and len(set(np.array(compared.papers)[members])) < 2:
                known = np.full_like(known, np.nan)  # one paper says nothing about others
            recalls += [head | row for row in _recalls(compared, members, known)]
            differences += [head | row for row in _differences(compared, members, known)]
    bounds = ("low", "high")
    pair = ("a", "b", "label_a", "label_b", "difference", *bounds, "wins", "ties", "losses")
    tables = {
        "recall": pd.DataFrame(recalls, columns=[*_HEAD, "run", "label", "recall", *bounds]),
        "difference": pd.DataFrame(differences, columns=[*_HEAD, *pair]),
    }
    if instances:
        tables["instances"] = _instances(compared, named)
    return Report(
        f"Slices: {compared.where}, {compared.task.title}",
        tables,
        (
            f"{len(compared.ids):,} instances that every run is scored on; slices of one family do not overlap.",
            *compared.notes,
            *notes,
            f"Intervals: 95%, {n_resamples:,} bootstrap resamples of papers. Slices under {FEW} instances are "
            "marked: their intervals are too short. With many slices some difference shows by chance: take one "
            "as a question to new data.",
        ),
    )


def _instances(compared: Systems, named: Sequence[tuple[str, str, NDArray[np.bool_]]]) -> pd.DataFrame:
    ids = np.array(compared.ids, dtype=object)
    frames = [
        pd.DataFrame(
            {"family": family, "slice": name, "instance": ids[members]}
            | {key: row[members] for key, row in zip(compared.keys, compared.values, strict=True)}
        )
        for family, name, members in named
    ]
    columns = ["family", "slice", "instance", *compared.keys]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _recalls(
    compared: Systems, members: NDArray[np.bool_], drawn: NDArray[np.float64]
) -> list[dict[str, Any]]:
    return [
        {
            "run": key,
            "label": compared.labels[place],
            "recall": float(compared.values[place, members].mean()),
            **_interval(drawn[:, place]),
        }
        for place, key in enumerate(compared.keys)
    ]


def _differences(
    compared: Systems, members: NDArray[np.bool_], drawn: NDArray[np.float64]
) -> list[dict[str, Any]]:
    rows = []
    for place in range(1, len(compared.keys)):
        each = np.round(compared.values[place, members] - compared.values[0, members], 12)
        rows.append(
            {
                "a": compared.keys[place],
                "b": compared.keys[0],
                "label_a": compared.labels[place],
                "label_b": compared.labels[0],
                "difference": float(each.mean()),
                **_interval(drawn[:, place] - drawn[:, 0]),
                "wins": int((each > 0).sum()),
                "ties": int((each == 0).sum()),
                "losses": int((each < 0).sum()),
            }
        )
    return rows


def _interval(drawn: NDArray[np.float64]) -> dict[str, float]:
    known = drawn[~np.isnan(drawn)]
    low, high = np.quantile(known, [0.025, 0.975]) if known.size else (np.nan, np.nan)
    return {"low": float(low), "high": float(high)}


def slices_of(
    store: Store, dataset: str, ids: Sequence[str], task: Task
) -> tuple[dict[str, Slices], tuple[str, ...]]:
    """Families of slices of these instances, each in order, and which were left out and why.

    The task's focus says which aspects and optimal K count. A family of fewer than two slices is left out.
    """
    gold, wanted = store.gold(dataset), frozenset(ids)
    chosen = np.array([name in wanted for name in gold.ids], dtype=bool)
    gold = gold.part(chosen, chosen[gold.instance])
    notes: list[str] = []
    families: dict[str, Slices] = {}
    of_design = designs(store, dataset)
    if of_design:
        families["design"] = _by_frequency([of_design.get(name, "not given") for name in gold.ids])
    else:
        notes.append("No slices by study design: the instances of this dataset do not name it.")
    if len(ids) <= SECTIONS_UP_TO:
        where = main_sections(store, dataset, ids, task)
        families["section with most aspects"] = _in_order(
            [where[name] for name in gold.ids], [*SECTION_CLASSES, "nowhere"]
        )
    else:
        notes.append(f"No slices by section: that would read {len(ids):,} papers.")
    n_aspects, n_results = gold.per_instance(), gold.per_instance(gold.is_result)
    kind, counts = ("result aspects", n_results) if task.focus == "results" else ("aspects", n_aspects)
    families["sentences"] = thirds(gold.n_sentences)
    families[kind] = thirds(counts)
    families["optimal K"] = thirds(np.maximum(gold.optimal_for(task.focus), 0))
    families["ends coverage"] = _by_ends(ends_coverage(gold))
    shares = [
        round(100 * part / (n or 1)) for part, n in zip(n_results.tolist(), n_aspects.tolist(), strict=True)
    ]
    families["share of result aspects"] = thirds(shares, "%")
    for family in [name for name, its in families.items() if len(its) < 2]:
        del families[family]
        notes.append(f"No slices by {family}: all instances are alike in it.")
    return families, tuple(notes)


def thirds(values: ArrayLike, unit: str = "") -> Slices:
    """Three slices of about the same size, named by their least and largest value.

    Equal values stay together, so that there may be fewer than three, of unequal size.
    """
    array = np.array(values, dtype=np.int64)
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
    found = dict.fromkeys(ids, "nowhere")
    gold = dict(store.evidence_sets(dataset, ids))
    for paper in paper_texts(store, dataset, set(ids)):
        classes = section_classes(paper.sentences, paper.types)
        for instance_id in paper.hypotheses:
            counts: Counter[str] = Counter()
            for aspect in gold[instance_id].focused(task.focus):
                counts.update({classes[index] for index in aspect.sentence_indices})
            if counts:
                found[instance_id] = max(SECTION_CLASSES, key=lambda name: counts[name])
    return found


def _by_frequency(names: Sequence[str]) -> Slices:
    """A slice for each name, the most frequent first; the rare ones together."""
    frequent = [name for name, _ in Counter(names).most_common(_DESIGNS)]
    return _in_order([name if name in frequent else "others" for name in names], [*frequent, "others"])


def _in_order(names: Sequence[str], order: Sequence[str]) -> Slices:
    array = np.array(names, dtype=object)
    return _not_empty({name: array == name for name in order})


def _by_ends(shares: NDArray[np.float64]) -> Slices:
    """The paper's split: share of all aspects that the first and last 10 sentences cover."""
    above, below = shares > 0.8, shares < 0.2
    return _not_empty({"under 20%": below, "20 to 80%": ~above & ~below, "over 80%": above})


def _not_empty(named: Slices) -> Slices:
    return {name: members for name, members in named.items() if members.any()}
