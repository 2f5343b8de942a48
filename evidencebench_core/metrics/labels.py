"""The worth of labels that were read from answers: integers in tables, gold by read.

A table has one row a gold label and one column a label that was read, in the same order, and one more column for
nulls, answers without a label. Leading axes are resamples, orders, ...; an undefined figure is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


def confusion(gold: Sequence[str], read: Sequence[str | None], labels: Sequence[str]) -> NDArray[np.int64]:
    """How often each gold label was read as each label, or as null: shape (n_labels, n_labels + 1)."""
    columns: list[str | None] = [*labels, None]
    rows = np.array([labels.index(label) for label in gold], dtype=np.int64)
    cells = rows * len(columns) + np.array([columns.index(label) for label in read], dtype=np.int64)
    return np.bincount(cells, minlength=len(labels) * len(columns)).reshape(len(labels), len(columns))


def weighted_f1(tables: ArrayLike) -> Values:
    """Mean of the labels' F1 weighted by gold counts, 0 to 1: RAmBLA's "F1".

    F1 of a label is 2 TP / (2 TP + FP + FN). A null is a miss and no false alarm. NaN without any item. It is
    scikit-learn's ``f1_score(average="weighted")`` with null as a label that gold never has.

    Parameters
    ----------
    tables : array-like of int, shape (..., n_labels, n_labels + 1)
    """
    support, f1 = _f1(tables)
    return _ratio((support * f1).sum(axis=-1), support.sum(axis=-1))


def macro_f1(tables: ArrayLike) -> Values:
    """Plain mean of the F1 of the labels that gold has, 0 to 1."""
    support, f1 = _f1(tables)
    return _ratio(np.where(support > 0, f1, 0.0).sum(axis=-1), (support > 0).sum(axis=-1))


def answered_f1(tables: ArrayLike) -> Values:
    """`weighted_f1` of the items that were answered; NaN where none was."""
    return weighted_f1(_without_nulls(tables))


def accuracy(tables: ArrayLike) -> Values:
    """Share of the items with the gold label, nulls being wrong; NaN without any item."""
    counts = np.asarray(tables, dtype=np.float64)
    return _ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def coverage(tables: ArrayLike) -> Values:
    """Share of the items with a label, 1 - null rate; NaN without any item."""
    counts = np.asarray(tables, dtype=np.float64)
    return _ratio(counts[..., :-1].sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def label_shares(tables: ArrayLike) -> Values:
    """Share of the items that each label, and last null, was read for: shape (..., n_labels + 1), sums of 1."""
    counts = np.asarray(tables, dtype=np.float64)
    return _ratio(counts.sum(axis=-2), counts.sum(axis=(-2, -1))[..., None])


def share_of_yes(tables: ArrayLike) -> Values:
    """Yes among the answers yes and no, the first two labels; NaN where there is none."""
    read = np.asarray(tables, dtype=np.float64).sum(axis=-2)
    return _ratio(read[..., 0], read[..., 0] + read[..., 1])


def bias(shares: ArrayLike) -> Values:
    """Mean over orders (the last axis) of how far the share of yes is from a half, 0 to 0.5; NaN if one share is."""
    return np.asarray(np.abs(np.asarray(shares, dtype=np.float64) - 0.5).mean(axis=-1))


def signed_bias(shares: ArrayLike) -> Values:
    """The same with its sign: above 0 is for yes."""
    return np.asarray((np.asarray(shares, dtype=np.float64) - 0.5).mean(axis=-1))


def place_contrast(shares: ArrayLike, orders: Sequence[str], place: int) -> Values:
    """Mean share of yes of orders with a Y at a place minus that of those with an N: primacy at 0, recency at -1.

    A contrast and no effect, unless the orders are balanced over places. NaN where all orders have the same there.
    """
    values = np.asarray(shares, dtype=np.float64)
    has_yes = np.array([order[place] == "Y" for order in orders])
    if has_yes.all() or not has_yes.any():
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(values[..., has_yes].mean(axis=-1) - values[..., ~has_yes].mean(axis=-1))


def consistency(tables: ArrayLike) -> tuple[Values, Values]:
    """Share of the items with the same label in two tasks: of all items, and of those answered in both.

    Parameters
    ----------
    tables : array-like of int, shape (..., n_labels + 1, n_labels + 1)
        One task by the other, null last in both.
    """
    counts = np.asarray(tables, dtype=np.float64)
    both = counts[..., :-1, :-1]
    same = np.trace(both, axis1=-2, axis2=-1)
    return _ratio(same, counts.sum(axis=(-2, -1))), _ratio(same, both.sum(axis=(-2, -1)))


def corrected_share(share: ArrayLike, sensitivity: ArrayLike, specificity: ArrayLike) -> Values:
    """The true share behind one that a judge with known errors gives; NaN if it is no better than chance.

    Rogan and Gladen, American Journal of Epidemiology 107 (1978): (p + Sp - 1) / (Se + Sp - 1), clipped to 0 and 1.
    """
    p, se, sp = (np.asarray(one, dtype=np.float64) for one in (share, sensitivity, specificity))
    return np.clip(_ratio(p + sp - 1.0, se + sp - 1.0), 0.0, 1.0)


def relative_change(value: float | None, baseline: float | None) -> float | None:
    """(value - baseline) / baseline; ``None`` where one is unknown or the baseline is 0."""
    return None if value is None or not baseline else (value - baseline) / baseline


def _f1(tables: ArrayLike) -> tuple[Values, Values]:
    """Gold counts and F1 of every label, each of shape (..., n_labels)."""
    counts = np.asarray(tables, dtype=np.float64)
    support, read = counts.sum(axis=-1), counts[..., :-1].sum(axis=-2)
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    return support, np.nan_to_num(_ratio(2 * hits, support + read))


def _without_nulls(tables: ArrayLike) -> Values:
    counts = np.array(tables, dtype=np.float64)
    counts[..., -1] = 0
    return counts


def _ratio(top: Values, bottom: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)
