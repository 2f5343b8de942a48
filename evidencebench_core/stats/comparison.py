"""Systems over the same instances: is a difference of means more than noise?

`compare_paired` takes a pair and draws for that pair, which is quick however many instances there are.
`compare_matrix` takes any number of systems and draws once for all of them: intervals of the systems and of
all pairs come from one set of resamples, p-values from one set of signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.bootstrap import bootstrap_interval, check_finite, finite_values, tails
from evidencebench_core.stats.pairs import holm
from evidencebench_core.stats.randomisation import DECIMALS, pairwise_p_values, randomisation_p_value
from evidencebench_core.stats.resampling import cluster_numbers, cluster_sums, n_clusters, resampled_matrix

_NO_SPREAD: Final = 1e-9
_ENDS: Final = tails(0.95)
_DETECTABLE: Final = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)  # standard errors, 5% and 80%


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """System a against system b, pair by pair.

    Attributes
    ----------
    n : int
        Pairs.
    mean_a, mean_b, mean_difference : float or None
        ``mean_difference`` is a minus b. ``None`` without a pair.
    ci95 : (low, high) or None
        Paired percentile bootstrap interval of the mean difference; ``None`` for fewer than two pairs.
    p_value : float or None
        Two-sided paired randomisation test; ``None`` for fewer than two pairs.
    wins, ties, losses : int
        Pairs in which a is above, level with, and below b.
    """

    n: int
    mean_a: float | None
    mean_b: float | None
    mean_difference: float | None
    ci95: tuple[float, float] | None
    p_value: float | None
    wins: int
    ties: int
    losses: int


def compare_paired(
    a: ArrayLike,
    b: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    clusters: ArrayLike | None = None,
) -> PairedComparison:
    """Compare two systems over the same instances in the same order.

    Parameters
    ----------
    a, b : array-like of float, shape (n,)
        Finite, and equally many; else a `SettingError`.
    rng : numpy Generator
    n_resamples : int
        Of the bootstrap and of the randomisation test.
    clusters : array-like of str or int, shape (n,), optional
        Instances with one label, say of one paper, are drawn together and change sign together. With
        fewer than two clusters there is no interval and no p-value.
    """
    array_a, array_b = finite_values(a, "a"), finite_values(b, "b")
    n = array_a.size
    if n != array_b.size:
        raise SettingError(
            "compare_paired", f"a has {n} values, b has {array_b.size}", "Pair them by instance."
        )
    differences = np.round(array_a - array_b, DECIMALS)
    units = np.round(cluster_sums(differences[None, :], cluster_numbers(clusters, n))[0][0], DECIMALS)
    return PairedComparison(
        n=n,
        mean_a=float(array_a.mean()) if n else None,
        mean_b=float(array_b.mean()) if n else None,
        mean_difference=float(differences.mean()) if n else None,
        ci95=bootstrap_interval(differences, rng, n_resamples, clusters=clusters),
        p_value=randomisation_p_value(units, rng, n_resamples),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class MatrixComparison:
    """R systems over n instances, pair by pair. Undefined numbers are NaN.

    Attributes
    ----------
    n, n_clusters : int
        Instances, and clusters (papers) that were drawn.
    mean : array of float, shape (R,)
    interval : array of float, shape (R, 2)
        95% percentile bootstrap interval of each mean; NaN for fewer than two clusters.
    difference : array of float, shape (R, R)
        Mean of row minus column.
    low, high : arrays of float, shape (R, R)
        95% paired percentile bootstrap interval of the difference.
    p_value, p_holm : arrays of float, shape (R, R)
        Two-sided paired randomisation test, and the same with Holm's correction for the
        ``R * (R - 1) / 2`` pairs; NaN on the diagonal.
    effect : array of float, shape (R, R)
        d_z, mean difference / standard deviation of the differences (ddof 1) over instances; NaN where all
        differences are alike. Lakens, Frontiers in Psychology 4:863 (2013), equation 6.
    wins, ties : arrays of int, shape (R, R)
        Instances on which the row is above, and level with, the column. Losses are ``wins.T``.
    smallest_detectable : array of float, shape (R, R)
        True difference that a two-sided test at 5% would find with probability 80%: 2.80 standard errors
        over clusters. Bloom, Evaluation Review 19 (1995), 547-556.
    """

    n: int
    n_clusters: int
    mean: NDArray[np.float64]
    interval: NDArray[np.float64]
    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_value: NDArray[np.float64]
    p_holm: NDArray[np.float64]
    effect: NDArray[np.float64]
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    smallest_detectable: NDArray[np.float64]


def compare_matrix(
    values: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    clusters: ArrayLike | None = None,
    n_flips: int | None = None,
) -> MatrixComparison:
    """Compare all pairs of systems.

    Parameters
    ----------
    values : array-like of float, shape (R, n)
        One row a system, one column an instance; `SettingError` if one is not finite.
    rng : numpy Generator
    n_resamples : int
        Of the bootstrap.
    clusters : array-like of str or int, shape (n,), optional
        Instances with one label are drawn, and change sign, together.
    n_flips : int, optional
        Of the randomisation test; as many as ``n_resamples`` where not given. No p-value is below
        ``1 / (n_flips + 1)``, nor below the number of pairs times that after correction.
    """
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise SettingError("values", f"have the shape {matrix.shape}", "Give one row of numbers a system.")
    check_finite(matrix, "values")
    n_systems, n = matrix.shape
    numbers = cluster_numbers(clusters, n)
    n_drawn = n_clusters(numbers, n)
    mean = matrix.mean(axis=1) if n else np.full(n_systems, np.nan)
    square = (n_systems, n_systems)
    low, high, effect, detectable = (np.full(square, np.nan) for _ in range(4))
    wins, ties = np.zeros(square, dtype=np.int64), np.zeros(square, dtype=np.int64)
    interval = np.full((n_systems, 2), np.nan)
    if n_drawn >= 2:
        means = resampled_matrix(*cluster_sums(matrix, numbers), rng, n_resamples)
        interval = np.quantile(means, _ENDS, axis=0).T
        for row in range(n_systems):
            drawn = np.round(means[:, row : row + 1] - means[:, row + 1 :], DECIMALS)
            bounds = np.quantile(drawn, _ENDS, axis=0)
            low[row, row + 1 :], high[row, row + 1 :] = bounds
            low[row + 1 :, row], high[row + 1 :, row] = -bounds[1], -bounds[0]
            low[row, row] = high[row, row] = 0.0
    for row in range(n_systems):
        differences = np.round(matrix[row] - matrix, DECIMALS)
        wins[row], ties[row] = (differences > 0).sum(axis=1), (differences == 0).sum(axis=1)
        detectable[row] = _DETECTABLE * _mean_errors(differences, numbers)
        if n >= 2:
            spread = differences.std(axis=1, ddof=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                effect[row] = np.where(spread > _NO_SPREAD, differences.mean(axis=1) / spread, np.nan)
    p_value = pairwise_p_values(matrix, rng, n_resamples if n_flips is None else n_flips, numbers)
    return MatrixComparison(
        n=n,
        n_clusters=n_drawn,
        mean=mean,
        interval=interval,
        difference=np.round(mean[:, None] - mean[None, :], DECIMALS),
        low=low,
        high=high,
        p_value=p_value,
        p_holm=_holm_matrix(p_value),
        effect=effect,
        wins=wins,
        ties=ties,
        smallest_detectable=detectable,
    )


def _mean_errors(values: NDArray[np.float64], numbers: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Standard errors of the means of rows over G >= 2 clusters, else NaN (each alone: sd / sqrt(n), ddof 1).

    Liang and Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73 (1986), with
    the factor G / (G - 1).
    """
    n = values.shape[1]
    n_drawn = n_clusters(numbers, n)
    if n_drawn < 2:
        return np.full(len(values), np.nan)
    sums, _ = cluster_sums(values - values.mean(axis=1, keepdims=True), numbers)
    squares = (sums**2).sum(axis=1) * (n_drawn / (n_drawn - 1))
    return np.asarray(np.sqrt(squares) / n)


def _holm_matrix(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's correction over the pairs above the diagonal, and the same below it."""
    corrected = np.full(p_values.shape, np.nan)
    first, second = np.triu_indices(len(p_values), 1)
    known = [None if np.isnan(p) else float(p) for p in p_values[first, second]]
    for a, b, p in zip(first, second, holm(known), strict=True):
        corrected[a, b] = corrected[b, a] = np.nan if p is None else p
    return corrected
