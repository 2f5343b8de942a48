"""Intervals of shares of things that come in clumps: aspects of one paper succeed and fail together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.weights import resample_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ratio_intervals"]


def ratio_intervals(
    numerators: ArrayLike,
    denominators: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
) -> NDArray[np.float64]:
    """Cluster bootstrap intervals of many ratios of sums, ``sum(numerators) / sum(denominators)``.

    Whole clusters (papers) are drawn with replacement, the same draws for every ratio, so that what
    belongs together stays together and the number of things in a resample varies as it would.

    Parameters
    ----------
    numerators, denominators : array-like of float, shape (n_clusters, n_ratios)
        What each cluster adds to each ratio; denominators may be of shape (n_clusters, 1).
    rng : numpy Generator
    n_resamples : int
        At least 1.
    level : float
        Between 0 and 1, both excluded.

    Returns
    -------
    array of float, shape (n_ratios, 2)
        Percentile interval of each ratio, low and high. NaN where fewer than two clusters have
        anything in the denominator. Resamples in which a denominator is 0 count for nothing there.

    Raises
    ------
    SettingError
        If a setting is out of its range, a number is not finite, or the shapes do not fit.

    Notes
    -----
    Davison and Hinkley, Bootstrap Methods and their Application (1997), sections 2.4 and 3.8.
    """
    import numpy as np

    if not 0.0 < level < 1.0:
        raise SettingError("level", f"is {shown(level)}", "Give a share between 0 and 1, such as 0.95.")
    top, bottom = (np.asarray(array, dtype=np.float64) for array in (numerators, denominators))
    if top.ndim != 2 or bottom.ndim != 2 or bottom.shape not in (top.shape, (top.shape[0], 1)):
        raise SettingError(
            "ratio_intervals",
            f"numerators have the shape {top.shape}, denominators {bottom.shape}",
            "Give one row a cluster and one column a ratio.",
        )
    if not (np.isfinite(top).all() and np.isfinite(bottom).all()):
        raise SettingError("ratio_intervals", "a number is not finite", "Leave out what is undefined.")
    n_ratios = top.shape[1]
    bounds = np.full((n_ratios, 2), np.nan)
    defined = np.broadcast_to((bottom != 0).sum(axis=0) >= 2, n_ratios)
    if not defined.any():
        return bounds
    ratios = np.empty((max(n_resamples, 0), n_ratios))
    for part, weights in resample_weights(top.shape[0], rng, n_resamples):
        sums = weights @ bottom
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios[part] = np.where(sums != 0, (weights @ top) / sums, np.nan)
    tail = (1.0 - level) / 2.0
    bounds[defined] = np.nanquantile(ratios[:, defined], [tail, 1.0 - tail], axis=0).T
    return bounds
