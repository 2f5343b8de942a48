"""How well labels that a judge gave agree with those of people: any number of labels, intervals over groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.stats.bootstrap import Interval, percentile_interval
from evidencebench_core.stats.cells import resampled_tables
from evidencebench_core.stats.resampling import cluster_numbers

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement of judged with human labels.

    Attributes
    ----------
    labels : tuple of str
    table : array of int, shape (n_labels, n_labels + 1)
        Human label by judged label; the last column counts units whose judgement has no label.
    by_label : mapping from label to (precision, recall, F1)
        0 where nothing is to be divided by, as scikit-learn has it.
    values : mapping from measure to float or None
        ``accuracy`` (and micro F1), ``kappa`` (Cohen's), ``phi`` (two labels), ``macro ...`` over the labels that
        either has and ``weighted ...`` by human counts, each of precision, recall and F1; no label is wrong, and a
        class of its own in kappa. ``None`` where undefined.
    intervals : mapping from measure to (low, high) or None
        95% percentile bootstrap, whole groups drawn; ``None`` with fewer than two groups.
    """

    labels: tuple[str, ...]
    table: NDArray[np.int64]
    by_label: Mapping[str, tuple[float, float, float]]
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]

    @property
    def n(self) -> int:
        """Units, those without a judged label too."""
        return int(self.table.sum())

    @property
    def n_unlabelled(self) -> int:
        return int(self.table[:, -1].sum())

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        return {
            "n": self.n,
            "n_unlabelled": self.n_unlabelled,
            "labels": list(self.labels),
            "table": self.table.tolist(),
            "by_label": {
                label: dict(zip(("precision", "recall", "f1"), three, strict=True))
                for label, three in self.by_label.items()
            },
            **{name.replace(" ", "_"): value for name, value in self.values.items()},
            "ci95": {
                name.replace(" ", "_"): None if bounds is None else list(bounds)
                for name, bounds in self.intervals.items()
            },
        }


def label_agreement(
    human: Sequence[str],
    judged: Sequence[str | None],
    labels: Sequence[str],
    *,
    groups: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    n_resamples: int = 10_000,
) -> LabelAgreement:
    """Compare the judged with the human label of each unit.

    Parameters
    ----------
    human : sequence of str
        Each one of ``labels``.
    judged : sequence of str or None
        In the same order; ``None`` for a judgement without a label (unparsed, refused, cut off).
    labels : sequence of str
    groups : array-like of str or int, optional
        What is drawn together, the question; each unit alone where not given.
    rng : numpy Generator, optional
        No intervals without it.
    """
    columns: list[str | None] = [*labels, None]
    cells = np.array(
        [
            labels.index(one) * len(columns) + columns.index(other)
            for one, other in zip(human, judged, strict=True)
        ],
        dtype=np.int64,
    )
    shape = (len(labels), len(columns))
    table = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    values = _measures(table)
    intervals: dict[str, Interval | None] = dict.fromkeys(values)
    numbers = cluster_numbers(groups, len(cells))
    places = np.arange(len(cells)) if numbers is None else numbers
    n_groups = int(places.max(initial=-1)) + 1
    if rng is not None and n_groups > 1:
        by_group = np.bincount(places * table.size + cells, minlength=n_groups * table.size)
        drawn = _measures(resampled_tables(by_group.reshape(n_groups, *shape), rng, n_resamples))
        intervals = {name: percentile_interval(one) for name, one in drawn.items()}
    three = [np.nan_to_num(one) for one in _precision_recall_f1(table)]
    by_label = {label: tuple(float(one[place]) for one in three) for place, label in enumerate(labels)}
    known = {name: None if np.isnan(value) else float(value) for name, value in values.items()}
    return LabelAgreement(tuple(labels), table, by_label, known, intervals)  # type: ignore[arg-type]


def best_constant(human: Sequence[str], labels: Sequence[str]) -> str:
    """The label that a judge who never looks had best say: the most frequent of people, the first of equals."""
    return max(labels, key=list(human).count)


def _measures(tables: ArrayLike) -> dict[str, Values]:
    """Every measure of tables of shape (..., n_labels, n_labels + 1); NaN where it is undefined."""
    counts = np.asarray(tables, dtype=np.float64)
    n, support, read = counts.sum(axis=(-2, -1)), counts.sum(axis=-1), counts[..., :-1].sum(axis=-2)
    accuracy = _ratio(np.trace(counts, axis1=-2, axis2=-1), n)
    chance = _ratio((support * read).sum(axis=-1), n * n)
    found = {"accuracy": accuracy, "kappa": _ratio(accuracy - chance, 1.0 - chance)}
    if counts.shape[-2] == 2:
        product_of_margins = support.prod(axis=-1) * read.prod(axis=-1)
        both, _, _, neither = (counts[..., row, column] for row in (0, 1) for column in (0, 1))
        difference = both * neither - counts[..., 0, 1] * counts[..., 1, 0]
        unlabelled = counts[..., -1].sum(axis=-1)
        found["phi"] = np.where(unlabelled > 0, np.nan, _ratio(difference, np.sqrt(product_of_margins)))
    there = support + read > 0
    for name, value in zip(("precision", "recall", "F1"), _precision_recall_f1(counts), strict=True):
        known = np.nan_to_num(value)
        found[f"macro {name}"] = _ratio(np.where(there, known, 0.0).sum(axis=-1), there.sum(axis=-1))
        found[f"weighted {name}"] = _ratio((support * known).sum(axis=-1), n)
    return found


def _precision_recall_f1(tables: ArrayLike) -> tuple[Values, Values, Values]:
    """Of every label, each of shape (..., n_labels)."""
    counts = np.asarray(tables, dtype=np.float64)
    support, read = counts.sum(axis=-1), counts[..., :-1].sum(axis=-2)
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    return _ratio(hits, read), _ratio(hits, support), _ratio(2 * hits, support + read)


def _ratio(top: ArrayLike, bottom: ArrayLike) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(bottom) > 0, np.asarray(top) / np.asarray(bottom), np.nan)
