"""Standard error and percentile bootstrap interval of a mean over instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.weights import cluster_numbers, cluster_sums, resampled_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["bootstrap_interval", "finite_values", "resampled_means", "standard_error"]

CELLS_AT_ONCE = 2_000_000  # numbers drawn at a time: 16 MB of float64


def finite_values(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """The values as a one-dimensional float array.

    Raises
    ------
    SettingError
        If they have more dimensions, or one of them is not a finite number.
    """
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise SettingError(name, f"have the shape {array.shape}", "Give one number per instance.")
    if not np.isfinite(array).all():
        first = int(np.flatnonzero(~np.isfinite(array))[0])
        raise SettingError(
            f"{name}[{first}]",
            f"is {shown(float(array[first]))}",
            "Leave out what is undefined, and count it.",
        )
    return array


def standard_error(values: ArrayLike) -> float | None:
    """Standard deviation over instances / sqrt(number of instances), spec rule 11.

    The standard deviation is that of the population (ddof 0): of the figures in the paper's tables
    that rounding lets tell the two apart, those that one of them reproduces are all ddof 0.

    Parameters
    ----------
    values : array-like of float, shape (n,)

    Returns
    -------
    float or None
        In the unit of the values; ``None`` for fewer than two, which say nothing about their spread.

    Raises
    ------
    SettingError
        If a value is not finite.
    """
    array = finite_values(values)
    return float(array.std() / array.size**0.5) if array.size > 1 else None


def bootstrap_interval(
    values: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
) -> tuple[float, float] | None:
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
    import numpy as np

    if not 0.0 < level < 1.0:
        raise SettingError("level", f"is {shown(level)}", "Give a share between 0 and 1, such as 0.95.")
    array = finite_values(values)
    if array.size < 2:
        return None
    numbers = cluster_numbers(clusters, array.size)
    if numbers is None:
        means = resampled_means(array, rng, n_resamples)
    else:
        sums, sizes = cluster_sums(array[None, :], numbers)
        if sizes.size < 2:
            return None
        means = resampled_matrix(sums, sizes, rng, n_resamples)[:, 0]
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


def resampled_means(
    values: NDArray[np.float64], rng: np.random.Generator, n_resamples: int
) -> NDArray[np.float64]:
    """Means of ``n_resamples`` resamples of the values, drawn with replacement.

    Recall takes few different values, so over many instances it is quicker to draw how often each
    value comes up (multinomial) than to draw the instances: the distribution is the same. Memory is
    bounded, whatever the number of instances.

    Parameters
    ----------
    values : array of float, shape (n,), n >= 1

    Returns
    -------
    array of float, shape (n_resamples,)
    """
    import numpy as np

    if n_resamples < 1:
        raise SettingError("n_resamples", f"is {shown(n_resamples)}", "Give a positive number.")
    n = values.size
    distinct, counts = np.unique(values, return_counts=True)
    by_value = distinct.size * 16 < n
    means = np.empty(n_resamples)
    step = max(1, CELLS_AT_ONCE // (distinct.size if by_value else n))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        if by_value:
            sums = rng.multinomial(n, counts / n, size=size) @ distinct
        else:
            sums = values[rng.integers(0, n, size=(size, n), dtype=np.int32)].sum(axis=1)
        means[start : start + size] = sums / n
    return means
