"""The 95% interval, papers taken whole: instances of one paper succeed and fail together.

Of 40 clusters (papers) and more it is the percentile bootstrap: a resample draws as many clusters as there are, with
replacement, and sums what each adds; a figure is a function of these sums. Efron and Tibshirani, An Introduction to the
Bootstrap (1993), chapter 13; clusters and ratios: Davison and Hinkley, Bootstrap Methods and their Application (1997),
sections 2.4 and 3.8. Of fewer clusters it is too narrow (``benchmarks/interval_coverage.py``), so they have Student's t
with the standard error of the jackknife (Efron and Tibshirani, chapter 11), for a mean the usual one. So have means and
ratios over more than 500, where it differs from the bootstrap's by less than two bootstraps do. Where all clusters are
alike there is no interval: one of no width would be a false certainty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from math import inf, isnan
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.estimate import Estimate
from evidencebench_core.words import quantity

Values = NDArray[np.float64]
Ends = tuple[float, float] | tuple[None, None]

_BLOCK: Final = 2_000_000  # counts drawn at a time: 16 MB
_QUANTILES: Final = (0.025, 0.975)
_ROUNDING: Final = 1e-12
SMALL: Final = 40
"""Fewer clusters than these have intervals by Student's t."""
LARGE: Final = 500
"""More clusters than these have means and ratios by Student's t, too, and tests by their normal limit."""
FEW_PAPERS: Final = 20
"""An interval over fewer papers says little."""


def cluster_numbers(clusters: ArrayLike | None, n: int) -> NDArray[np.int64]:
    """The cluster of each of n things as a number from 0; ``None`` puts each alone in its own."""
    if clusters is None:
        return np.arange(n)
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise SettingError("clusters", f"have the shape {labels.shape}", f"Give {n} labels, one a value.")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(n)


def finite(values: ArrayLike, name: str = "values") -> Values:
    """The values as a float array; `SettingError` if one is not a finite number."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        place = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise SettingError(
            f"{name}[{', '.join(map(str, place))}]",
            f"is {shown(float(array[place]))}",
            "Leave out what is undefined, and count it.",
        )
    return array


def cluster_sums(values: Values, numbers: NDArray[np.int64]) -> Values:
    """What each cluster adds up to, of values of shape (n, ...): shape (n_clusters, ...)."""
    sums = np.zeros((int(numbers.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(sums, numbers, values)
    return sums


def resampled_sums(sums: Values, seed: int = 0, n_resamples: int | None = None) -> Values:
    """Sums over resamples of the clusters' sums, shape (n_clusters, ...): shape (n_resamples, ...).

    10,000 resamples where not given, 2,000 of more than 2,000 clusters. Clusters that are equally many are drawn
    alike whatever they hold, so two figures over the same papers are over the same resamples.
    """
    n = len(sums)
    if n_resamples is None:
        n_resamples = 10_000 if n <= 2_000 else 2_000
    if n_resamples < 1:
        raise SettingError("n_resamples", f"is {shown(n_resamples)}", "Give a positive number.")
    columns = np.ascontiguousarray(sums.reshape(n, -1))
    drawn = np.empty((n_resamples, columns.shape[1]))
    start = 0
    blocks = _kept_draws if n * n_resamples <= _BLOCK else _draws
    for weights in blocks(n, seed, n_resamples):
        drawn[start : start + len(weights)] = weights @ columns
        start += len(weights)
    return drawn.reshape(n_resamples, *sums.shape[1:])


def _draws(n: int, seed: int, n_resamples: int) -> Iterator[Values]:
    """How often each of n clusters comes up in each resample, in blocks of shape (some resamples, n)."""
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(1, n))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        clusters = rng.integers(0, n, size=(size, n), dtype=np.int32) + n * np.arange(size)[:, None]
        weights = np.bincount(clusters.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        yield weights


@lru_cache(maxsize=8)
def _kept_draws(n: int, seed: int, n_resamples: int) -> tuple[Values, ...]:
    return tuple(_draws(n, seed, n_resamples))


def bootstrap(
    units: ArrayLike,
    statistic: Callable[[Values], Values],
    clusters: ArrayLike | None = None,
    *,
    n: int | None = None,
    seed: int = 0,
    n_resamples: int | None = None,
) -> Estimate:
    """A figure that is a function of sums over units, such as an F1 of a table of counts.

    Parameters
    ----------
    units : array-like of float, shape (n_units, ...)
        What each unit adds.
    statistic : callable
        From sums of shape (m, ...) to m values, NaN where undefined.
    clusters : array-like of str or int, shape (n_units,), optional
        Units with one label are drawn together.
    n : int, optional
        The estimate's ``n``; the number of units where not given.

    Returns
    -------
    Estimate
        Without an interval for fewer than two clusters, where all are alike, or where over half of the resamples
        leave it undefined.
    """
    array = finite(units, "units")
    sums = cluster_sums(array, cluster_numbers(clusters, len(array)))
    value = float(statistic(sums.sum(axis=0)[None])[0])
    low, high = None, None
    if 1 < len(sums) < SMALL:
        low, high = _student(sums, statistic, len(sums), _possible_range(statistic(sums)))
    elif len(sums) > 1:
        low, high = _percentiles(statistic(resampled_sums(sums, seed, n_resamples)))
    return Estimate(None if isnan(value) else value, low, high, len(array) if n is None else n)


def _percentiles(drawn: Values) -> Ends:
    """Of resampled values, over half of which must be defined (NaN: undefined)."""
    defined = drawn[~np.isnan(drawn)]
    return _ends(*np.quantile(defined, _QUANTILES)) if defined.size > drawn.size / 2 else (None, None)


def _student(
    sums: Values, statistic: Callable[[Values], Values], n_clusters: int, bounds: tuple[float, float]
) -> Ends:
    """By what leaving out each cluster makes of a figure, of which over half must be defined."""
    from scipy.special import stdtrit  # here: it takes a quarter of a second, and most figures do without

    total = sums.sum(axis=0)
    value, without = float(statistic(total[None])[0]), statistic(total - sums)
    without = without[~np.isnan(without)]
    n = len(without)
    if isnan(value) or n <= len(sums) / 2:
        return None, None
    variance = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    reach = stdtrit(n_clusters - 1, _QUANTILES[1]) * variance**0.5
    return _ends(max(value - reach, bounds[0]), min(value + reach, bounds[1]))


def _ends(low: float, high: float) -> Ends:
    return (float(low), float(high)) if high - low > _ROUNDING else (None, None)


def _possible_range(values: Values) -> tuple[float, float]:
    """Bounds of what the values seem to be: shares, differences of shares, counts, or any numbers."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    high = 1.0 if largest <= 1 + _ROUNDING else inf
    return (0.0 if np.nanmin(values, initial=0.0) >= 0 else -high), high


def interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    seed: int = 0,
    n_resamples: int | None = None,
) -> Estimate:
    """The mean of values, one an instance, with its interval; ``clusters`` are the papers of the instances.

    `SettingError` if a value is not finite. Arguments are those of `bootstrap`.
    """
    array = finite(values)[:, None]
    return ratios(array, np.ones_like(array), clusters, seed=seed, n_resamples=n_resamples)[0]


def ratios(
    tops: ArrayLike,
    bottoms: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    differences: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
    seed: int = 0,
    n_resamples: int | None = None,
) -> list[Estimate]:
    """Many ratios of sums over the same resamples: of the aspects at each place, the share that is covered.

    Parameters
    ----------
    tops, bottoms : array-like of float, shape (n_units, n_ratios)
    clusters : array-like of str or int, shape (n_units,), optional
    differences : sequence of two sequences of int
        Ratios that are pooled (sums over sums) minus others that are pooled: their estimates come last.

    Returns
    -------
    list of Estimate
        ``n`` is the sum of the bottoms. Without an interval where fewer than two clusters have any, or all are alike.
    """
    top_array, bottom_array = finite(tops, "tops"), finite(bottoms, "bottoms")
    if top_array.shape != bottom_array.shape or top_array.ndim != 2:
        raise SettingError(
            "ratios",
            f"tops have the shape {top_array.shape}, bottoms {bottom_array.shape}",
            "Give one row a unit and one column a ratio.",
        )
    sums = cluster_sums(
        np.stack([top_array, bottom_array], axis=1), cluster_numbers(clusters, len(top_array))
    )
    figures = [[[column]] for column in range(top_array.shape[1])]
    figures += [[list(columns), list(others)] for columns, others in differences]
    is_large = len(sums) > LARGE and n_resamples is None
    drawn = sums[:0] if len(sums) < SMALL or is_large else resampled_sums(sums, seed, n_resamples)
    estimates = []
    for groups in figures:
        figure = partial(_figure, groups)
        value = float(figure(sums.sum(axis=0)[None])[0])
        has_any = [sums[:, 1, group].any(axis=1) for group in groups]
        n_clusters = min(int(clusters.sum()) for clusters in has_any)
        low, high = None, None
        if n_clusters > 1 and (n_clusters < SMALL or is_large):
            low, high = _student(sums[np.any(has_any, axis=0)], figure, n_clusters, _bounds(groups, sums))
        elif n_clusters > 1:
            low, high = _percentiles(figure(drawn))
        n = round(sum(float(sums[:, 1, group].sum()) for group in groups))
        estimates.append(Estimate(None if isnan(value) else value, low, high, n))
    return estimates


def _figure(groups: Sequence[list[int]], sums: Values) -> Values:
    """The pooled ratio of a group of columns, or its difference from another's, of sums of shape (m, 2, n_ratios)."""
    value, *others = (_pooled(sums, group) for group in groups)
    return value - others[0] if others else value


def _bounds(groups: Sequence[list[int]], sums: Values) -> tuple[float, float]:
    (low, high), *others = (_possible_range(_pooled(sums, group)) for group in groups)
    return (low - others[0][1], high - others[0][0]) if others else (low, high)


def _pooled(sums: Values, columns: list[int]) -> Values:
    return quotient(sums[:, 0, columns].sum(axis=1), sums[:, 1, columns].sum(axis=1))


def quotient(top: ArrayLike, bottom: ArrayLike) -> Values:
    """NaN where the bottom is not positive."""
    numerator, denominator = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def interval_note(n_papers: int) -> str:
    """How intervals over so many papers are made, and that they say little where those are few."""
    if SMALL <= n_papers <= LARGE:
        return f"Intervals: 95%, papers drawn whole (Student's t where there are under {SMALL})"
    little = f"; over {quantity(n_papers, 'paper')} they say little" if n_papers < FEW_PAPERS else ""
    return f"Intervals: 95%, Student's t over papers{little}"


def standard_error(values: ArrayLike) -> float | None:
    """Standard deviation over instances (ddof 0, as the paper's tables) / sqrt(n); ``None`` for fewer than two."""
    array = finite(values)
    return float(array.std() / array.size**0.5) if array.size > 1 else None
