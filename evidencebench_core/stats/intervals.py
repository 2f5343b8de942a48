"""The bootstrap interval, papers drawn whole: instances of one paper succeed and fail together.

A resample draws as many clusters (papers) as there are, with replacement, and what each adds is summed; a figure
is a function of these sums. Percentile intervals: Efron and Tibshirani, An Introduction to the Bootstrap (1993),
chapter 13; of clusters and ratios: Davison and Hinkley, Bootstrap Methods and their Application (1997), sections
2.4 and 3.8. Over more than 500 papers means and ratios have the normal interval of the same clusters, which then
differs from the bootstrap's by less than the bootstrap from itself: Cochran, Sampling Techniques (1977), section 9A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.estimate import Estimate

Values = NDArray[np.float64]

_BLOCK: Final = 2_000_000  # counts drawn at a time: 16 MB
_QUANTILES: Final = (0.025, 0.975)
_NORMAL_QUANTILE: Final = 1.959963984540054
LARGE: Final = 500
"""More clusters than these have normal intervals and tests."""


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
        Without an interval for fewer than two clusters, or where over half of the resamples leave it undefined.
    """
    array = finite(units, "units")
    sums = cluster_sums(array, cluster_numbers(clusters, len(array)))
    value = float(statistic(sums.sum(axis=0)[None])[0])
    low, high = None, None
    if len(sums) > 1:
        low, high = percentiles(statistic(resampled_sums(sums, seed, n_resamples)))
    return Estimate(None if np.isnan(value) else value, low, high, len(array) if n is None else n)


def percentiles(drawn: Values, least: float = 0.5) -> tuple[float, float] | tuple[None, None]:
    """The ends of the interval of resampled values; none where a smaller share is defined (NaN: undefined)."""
    defined = drawn[~np.isnan(drawn)]
    if not defined.size or defined.size < least * drawn.size:
        return None, None
    low, high = np.quantile(defined, _QUANTILES)
    return float(low), float(high)


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
        ``n`` is the sum of the bottoms. Without an interval where fewer than two clusters have any.
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
    figures = [_Figure([column]) for column in range(top_array.shape[1])]
    figures += [_Figure(columns, others) for columns, others in differences]
    is_large = len(sums) > LARGE and n_resamples is None
    drawn = sums[:0] if len(sums) < 2 or is_large else resampled_sums(sums, seed, n_resamples)
    estimates = []
    for figure in figures:
        value = float(figure.of(sums.sum(axis=0)[None])[0])
        low, high = None, None
        if len(sums) > 1 and figure.n_clusters(sums) > 1:
            low, high = figure.normal_interval(sums) if is_large else percentiles(figure.of(drawn), 0.0)
        estimates.append(Estimate(None if np.isnan(value) else value, low, high, figure.n(sums)))
    return estimates


@dataclass(frozen=True, slots=True)
class _Figure:
    """A pooled ratio of sums of shape (m, 2, n_ratios), or its difference from another."""

    columns: Sequence[int]
    others: Sequence[int] | None = None

    def of(self, sums: Values) -> Values:
        value = _pooled(sums, self.columns)
        return value if self.others is None else value - _pooled(sums, self.others)

    def normal_interval(self, sums: Values) -> tuple[float, float]:
        """By the ratio's linear residual of each cluster; a ratio lies between those of the clusters."""
        value, residuals = _linearised(sums, self.columns)
        if self.others is not None:
            other, its_residuals = _linearised(sums, self.others)
            value, residuals = value - other, residuals - its_residuals
        reach = _NORMAL_QUANTILE * float(np.sqrt((residuals**2).sum()))
        low, high = value - reach, value + reach
        if self.others is None:
            alone = _pooled(sums, self.columns)
            low, high = max(low, float(np.nanmin(alone))), min(high, float(np.nanmax(alone)))
        return low, high

    def n_clusters(self, sums: Values) -> int:
        """How many clusters have anything in the bottom of the ratio, or of the rarer one."""
        groups = [self.columns] if self.others is None else [self.columns, self.others]
        return min(int(sums[:, 1, list(group)].any(axis=1).sum()) for group in groups)

    def n(self, sums: Values) -> int:
        return round(float(sums[:, 1, [*self.columns, *(self.others or ())]].sum()))


def _pooled(sums: Values, columns: Sequence[int]) -> Values:
    places = list(columns)
    return quotient(sums[:, 0, places].sum(axis=1), sums[:, 1, places].sum(axis=1))


def _linearised(sums: Values, columns: Sequence[int]) -> tuple[float, Values]:
    """A pooled ratio, and how much each cluster moves it."""
    tops, bottoms = sums[:, :, list(columns)].sum(axis=2).T
    ratio = tops.sum() / bottoms.sum()
    return float(ratio), (tops - ratio * bottoms) / bottoms.sum()


def quotient(top: ArrayLike, bottom: ArrayLike) -> Values:
    """NaN where the bottom is not positive."""
    numerator, denominator = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def interval_note(n_papers: int) -> str:
    """How a report's intervals are made, over so many papers."""
    return "Intervals: 95%, papers drawn whole" if n_papers <= LARGE else "Intervals: 95%, normal, by paper"


def standard_error(values: ArrayLike) -> float | None:
    """Standard deviation over instances (ddof 0, as the paper's tables) / sqrt(n); ``None`` for fewer than two."""
    array = finite(values)
    return float(array.std() / array.size**0.5) if array.size > 1 else None
