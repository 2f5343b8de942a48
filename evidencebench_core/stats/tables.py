"""Agreement of labels, from tables of counts: gold (or one rater) by what was read (or the other rater).

A table has one row a gold label and one column a label that was read, in the same order, and one more column for
answers without a label: they are misses, and false alarms of no label. Leading axes are resamples; an undefined
figure is NaN. `bootstrap` over `label_units` gives any of the figures its interval.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.stats.intervals import Values, quotient


def label_units(gold: Sequence[str], read: Sequence[str | None], labels: Sequence[str]) -> NDArray[np.int64]:
    """The table of each unit, a single 1: shape (n, n_labels, n_labels + 1). `ValueError` for an unknown label."""
    columns: list[str | None] = [*labels, None]
    units = np.zeros((len(gold), len(labels), len(columns)), dtype=np.int64)
    rows = [labels.index(label) for label in gold]
    units[np.arange(len(gold)), rows, [columns.index(label) for label in read]] = 1
    return units


def accuracy(tables: ArrayLike) -> Values:
    """Share of the units with the gold label."""
    counts = np.asarray(tables, dtype=np.float64)
    return quotient(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def label_f1(tables: ArrayLike) -> Values:
    """F1 of each label, 2 TP / (2 TP + FP + FN), shape (..., n_labels); NaN for a label that neither has."""
    counts = np.asarray(tables, dtype=np.float64)
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    return quotient(2 * hits, counts.sum(axis=-1) + counts[..., :-1].sum(axis=-2))


def weighted_f1(tables: ArrayLike) -> Values:
    """Mean of the labels' F1 weighted by gold counts: scikit-learn's ``f1_score(average="weighted")``."""
    support = np.asarray(tables, dtype=np.float64).sum(axis=-1)
    return quotient((support * np.nan_to_num(label_f1(tables))).sum(axis=-1), support.sum(axis=-1))


def macro_f1(tables: ArrayLike) -> Values:
    """Plain mean of the F1 of the labels that gold has."""
    has_gold = np.asarray(tables).sum(axis=-1) > 0
    return quotient(
        np.where(has_gold, np.nan_to_num(label_f1(tables)), 0.0).sum(axis=-1), has_gold.sum(axis=-1)
    )


def cohen_kappa(tables: ArrayLike) -> Values:
    """Cohen's kappa, no label being a class of its own; NaN where agreement by chance is certain.

    Cohen, Educational and Psychological Measurement 20 (1960), with numerator and denominator times n².
    """
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1))
    by_chance = (counts.sum(axis=-1) * counts[..., :-1].sum(axis=-2)).sum(axis=-1)
    return quotient(n * np.trace(counts, axis1=-2, axis2=-1) - by_chance, n * n - by_chance)


def phi(tables: ArrayLike) -> Values:
    """The phi coefficient of two labels, which is Pearson's and Spearman's; NaN where a rater gave only one."""
    counts = np.asarray(tables, dtype=np.float64)[..., :-1]
    margins = counts.sum(axis=-1).prod(axis=-1) * counts.sum(axis=-2).prod(axis=-1)
    difference = counts[..., 0, 0] * counts[..., 1, 1] - counts[..., 0, 1] * counts[..., 1, 0]
    return quotient(difference, np.sqrt(margins))


def coincidences(counts: ArrayLike) -> Values:
    """How often two raters gave a unit the labels c and k, from its counts of labels: shape (n, n_labels, n_labels).

    Each unit weighs as much as it has ratings; one that a single rater has labelled is all zeros.
    """
    ratings = np.asarray(counts, dtype=np.float64)
    pairs = ratings[:, :, None] * ratings[:, None, :] - ratings[:, :, None] * np.eye(ratings.shape[1])
    return np.nan_to_num(quotient(pairs, ratings.sum(axis=1)[:, None, None] - 1))


def krippendorff_alpha(tables: ArrayLike) -> Values:
    """Krippendorff's alpha of nominal labels, from sums of `coincidences`; NaN where all gave one label.

    Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section D.
    """
    pairs = np.asarray(tables, dtype=np.float64)
    totals = pairs.sum(axis=-1)
    n = totals.sum(axis=-1)
    differ = n - np.trace(pairs, axis1=-2, axis2=-1)
    by_chance = n * n - (totals * totals).sum(axis=-1)
    return 1 - quotient((n - 1) * differ, by_chance)
