"""Standard error and percentile bootstrap intervals: of a mean, a difference of means, ratios of sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.resampling import (
    cluster_numbers,
    exact_columns,
    n_clusters,
    product,
    resample_weights,
    resampled_means,
)

Interval = tuple[float, float]


def finite_values(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """The values as a one-dimensional float array; `SettingError` if they are something else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise SettingError(name, f"have the shape {array.shape}", "Give one number per instance.")
    check_finite(array, name)
    return array


def check_finite(array: NDArray[np.float64], name: str) -> None:
    if not np.isfinite(array).all():
        place = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise SettingError(
            f"{name}[{', '.join(map(str, place))}]",
            f"is {shown(float(array[place]))}",
            "Leave out what is undefined, and count it.",
        )


def tails(level: float) -> Interval:
    """Where the ends of an interval of that level stand, as quantiles."""
    if not 0.0 < level < 1.0:
        raise SettingError("level", f"is {shown(level)}", "Give a share between 0 and 1, such as 0.95.")
    return (1.0 - level) / 2.0, 1.0 - (1.0 - level) / 2.0


def standard_error(values: ArrayLike) -> float | None:
    """Standard deviation over instances / sqrt(n), spec rule 11, in the unit of the values.

    The standard deviation is that of the population (ddof 0): of the figures in the paper's tables
    that rounding lets tell the two apart, those that one of them reproduces are all ddof 0. ``None`` for
    fewer than two values; `SettingError` if one is not finite.
    """
    array = finite_values(values)
    return float(array.std() / array.size**0.5) if array.size > 1 else None


def percentile_interval(values: ArrayLike, level: float = 0.95) -> Interval | None:
    """The interval of a statistic's resampled values, shape (n_resamples,).

    Resamples that leave it undefined (NaN) are left out; ``None`` where over half of them do.
    """
    array = np.asarray(values, dtype=np.float64)
    defined = array[~np.isnan(array)]
    if not array.size or defined.size * 2 < array.size:
        return None
    low, high = np.quantile(defined, tails(level))
    return float(low), float(high)


def bootstrap_interval(
    values: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
) -> Interval | None:
    """Percentile bootstrap interval of the mean, instances or clusters of them being resampled.

    With values of 0 and 1 it is the interval of a share.

    Parameters
    ----------
    values : array-like of float, shape (n,)
    rng : numpy Generator
    n_resamples : int
        At least 1.
    level : float
        Between 0 and 1, both excluded.
    clusters : array-like of str or int, shape (n,), optional
        Instances with one label, say of one paper, are drawn together.

    Returns
    -------
    (low, high) or None
        In the unit of the values; ``None`` for fewer than two values, or fewer than two clusters.

    Raises
    ------
    SettingError
        If a value is not finite, or a setting is out of its range.

    Notes
    -----
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13; for clusters Davison and
    Hinkley, Bootstrap Methods and their Application (1997), section 3.8.
    """
    ends, array = tails(level), finite_values(values)
    numbers = cluster_numbers(clusters, array.size)
    if n_clusters(numbers, array.size) < 2:
        return None
    low, high = np.quantile(resampled_means(array, numbers, rng, n_resamples), ends)
    return float(low), float(high)


def difference_interval(
    a: ArrayLike,
    b: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
    *,
    clusters_a: ArrayLike | None = None,
    clusters_b: ArrayLike | None = None,
) -> Interval | None:
    """Percentile bootstrap interval of mean a - mean b, two groups that nothing pairs; else as `bootstrap_interval`.

    Each group, of shape (n_a,) and (n_b,), is resampled on its own. ``None`` if one has fewer than two
    members, or two clusters. In groups of fewer than some 20 it is too short: it takes the few members for
    the whole spread. Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 8.3.
    """
    ends, group_a, group_b = tails(level), finite_values(a, "a"), finite_values(b, "b")
    numbers_a, numbers_b = (
        cluster_numbers(clusters_a, group_a.size),
        cluster_numbers(clusters_b, group_b.size),
    )
    if min(n_clusters(numbers_a, group_a.size), n_clusters(numbers_b, group_b.size)) < 2:
        return None
    means_a = resampled_means(group_a, numbers_a, rng, n_resamples)
    low, high = np.quantile(means_a - resampled_means(group_b, numbers_b, rng, n_resamples), ends)
    return float(low), float(high)


def ratio_intervals(
    numerators: ArrayLike,
    denominators: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
    *,
    belongs: Sequence[int] | None = None,
    differences: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
) -> NDArray[np.float64]:
    """Cluster bootstrap intervals of many ratios of sums, ``sum(numerators) / sum(denominators)``.

    Whole clusters (papers) are drawn with replacement, the same draws for every ratio, so that what
    belongs together stays together and the number of things in a resample varies as it would.

    Parameters
    ----------
    numerators, denominators : array-like of float, shape (n_clusters, n_ratios)
        What each cluster adds to each ratio; denominators may be of shape (n_clusters, 1).
    belongs : sequence of int, optional
        Of each ratio the column of its denominator, where several have the same.
    differences : sequence of two sequences of int
        Ratios that are pooled (sums over sums), and others that are pooled: one minus the other gets bounds too.
    rng, n_resamples, level
        As of `bootstrap_interval`, and so are the errors.

    Returns
    -------
    array of float, shape (n_ratios + n_differences, 2)
        Low and high. NaN where fewer than two clusters have anything in the denominator. Resamples in
        which a denominator is 0 count for nothing there.

    Notes
    -----
    Davison and Hinkley, Bootstrap Methods and their Application (1997), sections 2.4 and 3.8.
    """
    ends = tails(level)
    top, bottom = (np.asarray(array, dtype=np.float64) for array in (numerators, denominators))
    if belongs is None and bottom.shape == top.shape:
        belongs = range(top.shape[-1])
    elif belongs is None and bottom.shape == (len(top), 1):
        belongs = [0] * top.shape[-1]
    if top.ndim != 2 or bottom.ndim != 2 or len(top) != len(bottom) or belongs is None:
        raise SettingError(
            "ratio_intervals",
            f"numerators have the shape {top.shape}, denominators {bottom.shape}",
            "Give one row a cluster and one column a ratio.",
        )
    check_finite(top, "numerators")
    check_finite(bottom, "denominators")
    n_ratios = top.shape[1]
    bounds = np.full((n_ratios + len(differences), 2), np.nan)
    places = np.array(belongs, dtype=np.int64)
    pooled = [[np.array(ratios, dtype=np.int64) for ratios in pair] for pair in differences]
    are_compared = [all(bottom[:, places[some]].any(axis=1).sum() >= 2 for some in pair) for pair in pooled]
    defined = np.array([*((bottom != 0).sum(axis=0) >= 2)[places], *are_compared], dtype=bool)
    if not defined.any():
        return bounds
    ratios = np.empty((max(n_resamples, 0), len(bounds)))
    both = exact_columns(np.concatenate([top, bottom], axis=1))
    for part, weights in resample_weights(len(both), rng, n_resamples, both.dtype):
        drawn = product(weights, both)
        tops, sums = drawn[:, :n_ratios], drawn[:, n_ratios:][:, places]
        ratios[part, :n_ratios] = _quotients(tops, sums)
        for place, pair in enumerate(pooled, start=n_ratios):
            one, other = (_quotients(tops[:, some].sum(axis=1), sums[:, some].sum(axis=1)) for some in pair)
            ratios[part, place] = one - other
    bounds[defined] = np.nanquantile(ratios[:, defined], ends, axis=0).T
    return bounds


def _quotients(tops: NDArray[np.float64], bottoms: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottoms != 0, tops / bottoms, np.nan)
