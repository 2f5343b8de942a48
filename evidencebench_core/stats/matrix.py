"""Any number of systems over the same instances: all pairs at once, from one set of draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.correction import holm
from evidencebench_core.stats.effect import detectable_factor, mean_errors
from evidencebench_core.stats.paired import DECIMALS, EXACT_UP_TO, randomisation_p_value
from evidencebench_core.stats.weights import cluster_numbers, cluster_sums, product, resampled_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["MatrixComparison", "compare_matrix", "matrix_intervals"]

_CELLS_AT_ONCE = 2_000_000
_ROUNDING = 1e-9  # sums nearer than this are alike


@dataclass(frozen=True, slots=True, eq=False)
class MatrixComparison:
    """R systems over n instances, pair by pair. Undefined numbers are NaN.

    Attributes
    ----------
    n, n_clusters : int
        Instances, and clusters (papers) that were drawn.
    mean : array of float, shape (R,)
    interval : array of float, shape (R, 2)
        Percentile bootstrap interval of each mean; NaN for fewer than two clusters.
    difference : array of float, shape (R, R)
        Mean of row minus column.
    low, high : arrays of float, shape (R, R)
        Paired percentile bootstrap interval of the difference.
    p_value, p_holm : arrays of float, shape (R, R)
        Two-sided paired randomisation test, and the same with Holm's correction for the
        ``R * (R - 1) / 2`` pairs; NaN on the diagonal.
    effect : array of float, shape (R, R)
        d_z, mean difference / standard deviation of the differences (ddof 1) over instances.
    wins, ties : arrays of int, shape (R, R)
        Instances on which the row is above, and level with, the column. Losses are ``wins.T``.
    smallest_detectable : array of float, shape (R, R)
        True difference that a two-sided test at 5% would find with probability 80% (`smallest_detectable`).
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
    level: float = 0.95,
    clusters: ArrayLike | None = None,
    n_flips: int | None = None,
) -> MatrixComparison:
    """Compare all pairs of systems.

    A resample is the same for all systems, and so is a draw of signs: what the pair-by-pair
    `compare_paired` draws for each pair anew, this draws once.

    Parameters
    ----------
    values : array-like of float, shape (R, n)
        One row a system, one column an instance.
    rng : numpy Generator
    n_resamples : int
        Of the bootstrap.
    level : float
        Of the intervals, between 0 and 1, both excluded.
    clusters : array-like of str or int, shape (n,), optional
        Instances with one label are drawn, and change sign, together.
    n_flips : int, optional
        Of the randomisation test; as many as ``n_resamples`` where not given. No p-value is below
        ``1 / (n_flips + 1)``, nor below the number of pairs times that after correction.

    Raises
    ------
    SettingError
        If a value is not finite, the shapes do not fit, or a setting is out of its range.
    """
    import numpy as np

    matrix = _finite_matrix(values)
    n_systems, n = matrix.shape
    numbers = cluster_numbers(clusters, n)
    n_clusters = n if numbers is None else int(numbers.max()) + 1
    mean = matrix.mean(axis=1) if n else np.full(n_systems, np.nan)
    means = _resampled(matrix, rng, n_resamples, level, numbers)
    tails = _tails(level)
    square = (n_systems, n_systems)
    low, high, effect, detectable = (np.full(square, np.nan) for _ in range(4))
    wins, ties = np.zeros(square, dtype=np.int64), np.zeros(square, dtype=np.int64)
    factor = detectable_factor(0.05, 0.8)
    for row in range(n_systems):
        differences = np.round(matrix[row] - matrix, DECIMALS)
        wins[row], ties[row] = (differences > 0).sum(axis=1), (differences == 0).sum(axis=1)
        detectable[row] = factor * mean_errors(differences, numbers)
        if n >= 2:
            spread = differences.std(axis=1, ddof=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                effect[row] = np.where(spread > _ROUNDING, differences.mean(axis=1) / spread, np.nan)
        if means is not None:
            drawn = np.round(means[:, row : row + 1] - means[:, row + 1 :], DECIMALS)
            bounds = np.quantile(drawn, tails, axis=0)
            low[row, row + 1 :], high[row, row + 1 :] = bounds
            low[row + 1 :, row], high[row + 1 :, row] = -bounds[1], -bounds[0]
            low[row, row] = high[row, row] = 0.0
    p_value = _p_values(matrix, rng, n_resamples if n_flips is None else n_flips, numbers)
    return MatrixComparison(
        n=n,
        n_clusters=n_clusters,
        mean=mean,
        interval=np.full((n_systems, 2), np.nan) if means is None else np.quantile(means, tails, axis=0).T,
        difference=np.round(mean[:, None] - mean[None, :], DECIMALS),
        low=low,
        high=high,
        p_value=p_value,
        p_holm=_corrected(p_value),
        effect=effect,
        wins=wins,
        ties=ties,
        smallest_detectable=detectable,
    )


def matrix_intervals(
    values: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Percentile bootstrap intervals of the means of rows, from one set of draws.

    Parameters
    ----------
    values : array-like of float, shape (R, n)

    Returns
    -------
    array of float, shape (R, 2)
        NaN for fewer than two clusters.
    """
    import numpy as np

    matrix = _finite_matrix(values)
    means = _resampled(matrix, rng, n_resamples, level, cluster_numbers(clusters, matrix.shape[1]))
    if means is None:
        return np.full((len(matrix), 2), np.nan)
    return np.asarray(np.quantile(means, _tails(level), axis=0).T)


def _finite_matrix(values: ArrayLike) -> NDArray[np.float64]:
    import numpy as np

    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise SettingError("values", f"have the shape {matrix.shape}", "Give one row of numbers a system.")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise SettingError(
            f"values[{row}, {column}]",
            f"is {shown(float(matrix[row, column]))}",
            "Leave out what is undefined, and count it.",
        )
    return matrix


def _tails(level: float) -> tuple[float, float]:
    if not 0.0 < level < 1.0:
        raise SettingError("level", f"is {shown(level)}", "Give a share between 0 and 1, such as 0.95.")
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def _resampled(
    matrix: NDArray[np.float64],
    rng: np.random.Generator,
    n_resamples: int,
    level: float,
    numbers: NDArray[np.int64] | None,
) -> NDArray[np.float64] | None:
    """Resampled means, one column a system; ``None`` for fewer than two clusters."""
    _tails(level)
    sums, sizes = cluster_sums(matrix, numbers) if matrix.shape[1] else (matrix, matrix[:0].sum(axis=0))
    return resampled_matrix(sums, sizes, rng, n_resamples) if sizes.size >= 2 else None


def _p_values(
    matrix: NDArray[np.float64],
    rng: np.random.Generator,
    n_resamples: int,
    numbers: NDArray[np.int64] | None,
) -> NDArray[np.float64]:
    """Two-sided p-values of all pairs, clusters changing sign as a whole; NaN on the diagonal.

    With s random signs, ``s @ (a - b)`` is ``s @ a - s @ b``: one product for each system, not for each
    pair. Pairs that differ in few clusters get their exact p-value instead.
    """
    import numpy as np

    n_systems, n = matrix.shape
    p_values = np.full((n_systems, n_systems), np.nan)
    if n_systems < 2 or n < 2:
        return p_values
    sums, sizes = cluster_sums(matrix, numbers)
    if sizes.size < 2:
        return p_values
    centred = sums - sums.mean(axis=0)  # the same for every pair, and numbers nearer to 0
    first, second = np.triu_indices(n_systems, 1)
    totals = centred.sum(axis=1)
    observed = np.abs(totals[first] - totals[second])
    as_extreme = np.zeros(first.size, dtype=np.int64)
    for drawn in _signed_sums(centred, rng, n_resamples, first.size):
        found = np.abs(drawn[:, first] - drawn[:, second]) >= observed * (1.0 - _ROUNDING) - _ROUNDING
        as_extreme += found.sum(axis=0)
    for a, b, count in zip(first, second, as_extreme, strict=True):
        differences = np.round(sums[a] - sums[b], DECIMALS)
        p: float | None = (1 + count) / (1 + n_resamples)
        if np.count_nonzero(differences) <= EXACT_UP_TO:
            p = randomisation_p_value(differences, rng, n_resamples)
        p_values[a, b] = p_values[b, a] = p
    return p_values


def _signed_sums(
    sums: NDArray[np.float64], rng: np.random.Generator, n_resamples: int, n_pairs: int
) -> Iterator[NDArray[np.float64]]:
    """Sums of the rows with random signs, shape (some resamples, n_systems), in bounded memory."""
    import numpy as np

    n_clusters = sums.shape[1]
    columns = np.ascontiguousarray(sums.T)
    step = max(1, _CELLS_AT_ONCE // max(n_clusters, n_pairs))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        drawn = np.frombuffer(rng.bytes(size * n_clusters // 8 + 1), dtype=np.uint8)
        plus = np.unpackbits(drawn, count=size * n_clusters).reshape(size, n_clusters)
        yield 2.0 * product(plus.astype(np.float64), columns) - columns.sum(axis=0)


def _corrected(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's correction over the pairs above the diagonal, and the same below it."""
    import numpy as np

    corrected = np.full(p_values.shape, np.nan)
    first, second = np.triu_indices(len(p_values), 1)
    known = [None if np.isnan(p) else float(p) for p in p_values[first, second]]
    for a, b, p in zip(first, second, holm(known), strict=True):
        corrected[a, b] = corrected[b, a] = np.nan if p is None else p
    return corrected
