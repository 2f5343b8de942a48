"""The 95% interval, papers taken whole: instances of one paper succeed and fail together.

Of 40 clusters (papers) and more it is the percentile bootstrap: a resample draws as many clusters as there are, with
replacement, and sums what each adds; a figure is a function of these sums. Efron and Tibshirani, An Introduction to the
Bootstrap (1993), chapter 13; clusters and ratios: Davison and Hinkley, Bootstrap Methods and their Application (1997),
sections 2.4 and 3.8. Of fewer clusters it is too narrow (``benchmarks/interval_coverage.py``), so they have Student's t
with the standard error of the jackknife (Efron and Tibshirani, chapter 11), for a mean the usual one. So have means and
ratios over more than 500, where it differs from the bootstrap's by less than two bootstraps do. Where all clusters are
alike there is no interval: one of zero width would feign certainty.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import inf, isnan
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

Values = NDArray[np.float64]
Range = tuple[float, float]
Statistic = Callable[[Values], Values]

_BLOCK: Final = 2_000_000  # counts drawn at a time: 16 MB
_QUANTILES: Final = (0.025, 0.975)
_ROUNDING: Final = 1e-12
SMALL: Final = 40
"""Fewer clusters than these have intervals by Student's t."""
LARGE: Final = 500
"""More clusters than these have means and ratios by Student's t, too, and tests by their normal limit."""
FEW_PAPERS: Final = 20
"""An interval over fewer papers says little."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its 95% interval and how many things are behind it.

    ``value`` is ``None`` where the figure is undefined, ``low`` and ``high`` where there are fewer than two
    clusters, or all are alike. All three are in the unit of the figure: shares are 0 to 1.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def text(self, *, scale: float = 100.0, decimals: int = 1, unit: str = "%", sign: bool = False) -> str:
        """``48.7% (44.3 to 52.9)``, without the brackets where there is no interval; ``–`` where undefined."""
        if self.value is None:
            return "–"
        form = f"{'+' if sign else ''}z,.{decimals}f"  # z: never minus zero
        text = f"{self.value * scale:{form}}{unit}"
        if self.low is None or self.high is None:
            return text
        return f"{text} ({self.low * scale:{form}} to {self.high * scale:{form}})"

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        return asdict(self)


def cluster_numbers(clusters: ArrayLike | None, n: int) -> NDArray[np.int64]:
    """The cluster of each of n things as a number from 0; ``None`` puts each alone in its own."""
    if clusters is None:
        return np.arange(n)
    return np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64).reshape(n)


def finite(values: ArrayLike) -> Values:
    """The values as a float array; `SettingError` if one is not a finite number."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise SettingError(
            "values", "are not all finite numbers", "Leave out what is undefined, and count it."
        )
    return array


def cluster_sums(values: Values, numbers: NDArray[np.int64]) -> Values:
    """What each cluster adds up to, of values of shape (n, ...): shape (n_clusters, ...)."""
    sums = np.zeros((int(numbers.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(sums, numbers, values)
    return sums


def _resampled_sums(sums: Values) -> Values:
    """Sums over resamples of the clusters' sums, shape (n_clusters, ...): shape (n_resamples, ...).

    10,000 resamples, 2,000 of more than 2,000 clusters. Clusters that are equally many are drawn alike whatever they
    hold, so two figures over the same papers are over the same resamples.
    """
    n = len(sums)
    columns = np.ascontiguousarray(sums.reshape(n, -1))
    blocks = _kept_draws(n) if 10_000 * n <= _BLOCK else _draws(n)
    return np.concatenate([weights @ columns for weights in blocks]).reshape(-1, *sums.shape[1:])


def _draws(n: int) -> Iterator[Values]:
    """How often each of n clusters comes up in each resample, in blocks of shape (some resamples, n)."""
    rng = np.random.default_rng(0)
    n_resamples = 10_000 if n <= 2_000 else 2_000
    step = max(1, _BLOCK // n)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        clusters = rng.integers(0, n, size=(size, n), dtype=np.int32) + n * np.arange(size)[:, None]
        yield np.bincount(clusters.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


@lru_cache(maxsize=8)
def _kept_draws(n: int) -> tuple[Values, ...]:
    return tuple(_draws(n))


def bootstrap(
    units: ArrayLike, statistic: Statistic, clusters: ArrayLike | None = None, *, n: int | None = None
) -> Estimate:
    """A figure that is a function of sums over units, such as an F1 of a table of counts.

    ``units`` are what each adds, shape (n_units, ...); ``statistic`` makes m values, NaN where undefined, of sums of
    shape (m, ...). Units of one label in ``clusters`` are drawn together. There is no interval for fewer than two
    clusters, where all are alike, or where over half of the resamples leave it undefined.
    """
    array = finite(units)
    sums = cluster_sums(array, cluster_numbers(clusters, len(array)))
    drawn = None if len(sums) < SMALL else _resampled_sums(sums)
    size = len(array) if n is None else n
    return _estimate(statistic, sums, drawn, _possible_range(statistic(sums)), len(sums), size)


def _estimate(
    statistic: Statistic, sums: Values, drawn: Values | None, possible: Range, n_clusters: int, n: int
) -> Estimate:
    """The statistic of the clusters' sums, its interval by their resamples or, without any, by Student's t."""
    total = sums.sum(axis=0)
    value = float(statistic(total[None])[0])
    if isnan(value):
        return Estimate(None, n=n)
    values = statistic(total - sums if drawn is None else drawn)  # without each cluster, or of each resample
    defined = values[~np.isnan(values)]
    if n_clusters < 2 or defined.size <= values.size / 2:
        return Estimate(value, n=n)
    if drawn is not None:
        low, high = np.quantile(defined, _QUANTILES)
    else:
        from scipy.special import stdtrit  # here: it takes a quarter of a second, and most figures do without

        variance = (defined.size - 1) / defined.size * ((defined - defined.mean()) ** 2).sum()
        reach = stdtrit(n_clusters - 1, _QUANTILES[1]) * variance**0.5
        low, high = max(value - reach, possible[0]), min(value + reach, possible[1])
    if high - low <= _ROUNDING:
        return Estimate(value, n=n)
    return Estimate(value, float(low), float(high), n)


def _possible_range(values: Values) -> Range:
    """The bounds that the values imply: those of shares, differences of shares, counts, or any numbers."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    high = 1.0 if largest <= 1 + _ROUNDING else inf
    return (0.0 if np.nanmin(values, initial=0.0) >= 0 else -high), high


def interval(values: ArrayLike, clusters: ArrayLike | None = None) -> Estimate:
    """The mean of values, one an instance, with its interval; ``clusters`` are the papers of the instances.

    `SettingError` if a value is not finite.
    """
    array = finite(values)[:, None]
    return ratios(array, np.ones_like(array), clusters)[0]


def ratios(
    tops: ArrayLike,
    bottoms: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    differences: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
) -> list[Estimate]:
    """Many ratios of sums over the same resamples: of the aspects at each place, the share that is covered.

    ``tops`` and ``bottoms`` have the shape (n_units, n_ratios); an estimate's ``n`` is the sum of the bottoms. Each of
    ``differences`` is of ratios that are pooled (sums over sums), from other pooled ones: these estimates come last.
    """
    counts = np.stack([finite(tops), finite(bottoms)], axis=1)
    sums = cluster_sums(counts, cluster_numbers(clusters, len(counts)))
    drawn = _resampled_sums(sums) if SMALL <= len(sums) <= LARGE else None
    figures = [([column],) for column in range(counts.shape[2])]
    return [_ratio(groups, sums, drawn) for groups in (*figures, *differences)]


def _ratio(groups: Sequence[Sequence[int]], sums: Values, drawn: Values | None) -> Estimate:
    """The pooled ratio of a group of columns, or its difference from that of another group."""

    def figure(sums: Values) -> Values:
        pooled = [_pooled(sums, group) for group in groups]
        return pooled[0] if len(pooled) == 1 else pooled[0] - pooled[1]

    bottoms = [sums[:, 1, list(group)] for group in groups]
    has_any = np.array([bottom.any(axis=1) for bottom in bottoms])
    ranges = [_possible_range(_pooled(sums, group)) for group in groups]
    possible = ranges[0]
    if len(ranges) > 1:
        possible = (ranges[0][0] - ranges[1][1], ranges[0][1] - ranges[1][0])
    n_clusters = int(has_any.sum(axis=1).min())
    n = round(sum(bottom.sum() for bottom in bottoms))
    drawn = drawn if n_clusters >= SMALL else None
    return _estimate(figure, sums[has_any.any(axis=0)], drawn, possible, n_clusters, n)


def _pooled(sums: Values, columns: Sequence[int]) -> Values:
    """Of sums of shape (m, 2, n_ratios)."""
    tops, bottoms = sums[:, :, list(columns)].sum(axis=2).T
    return quotient(tops, bottoms)


def quotient(top: ArrayLike, bottom: ArrayLike) -> Values:
    """NaN where the bottom is not positive."""
    numerator, denominator = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def interval_note(n_papers: int) -> str:
    """How intervals over this many papers are made, with a caution if there are few."""
    if SMALL <= n_papers <= LARGE:
        return f"Intervals: 95%, papers drawn whole (Student's t where there are under {SMALL})"
    little = f"; over {quantity(n_papers, 'paper')} they say little" if n_papers < FEW_PAPERS else ""
    return f"Intervals: 95%, Student's t over papers{little}"


def standard_error(values: ArrayLike) -> float | None:
    """Standard deviation over instances (ddof 0, as the paper's tables) / sqrt(n); ``None`` for fewer than two."""
    array = finite(values)
    return float(array.std() / array.size**0.5) if array.size > 1 else None
