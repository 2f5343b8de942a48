"""Resamples of tables of counts: what tells items apart is the cell they fall into, so counts are drawn, not items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.resampling import CELLS_AT_ONCE, product, resample_weights


def resampled_tables(
    units: ArrayLike, rng: np.random.Generator, n_resamples: int = 10_000, strata: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Sums of resamples of units with replacement, each unit adding its own table of counts.

    Units with the same table are exchangeable, so how often each table comes up is drawn as one multinomial: the
    same distribution as drawing units, for any statistic.

    Parameters
    ----------
    units : array-like of int, shape (n_units, ...)
        What each unit adds: an item one cell in each order, a cluster (a paper) the sum of its items.
    rng : numpy Generator
    n_resamples : int
        At least 1, else a `SettingError`.
    strata : array-like of str or int, shape (n_units,), optional
        Units are drawn within each stratum, as many as it has: by gold label, a balanced set stays balanced.

    Returns
    -------
    array of int, shape (n_resamples, ...)

    Notes
    -----
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), sections 6.2 and 8.4.
    """
    if n_resamples < 1:
        raise SettingError("n_resamples", f"is {shown(n_resamples)}", "Give a positive number.")
    tables = np.asarray(units, dtype=np.int64)
    flat = tables.reshape(len(tables), -1)
    labels = np.zeros(len(flat), dtype=np.int64) if strata is None else np.asarray(strata)
    if labels.shape != (len(flat),):
        raise SettingError(
            "strata", f"have the shape {labels.shape}", f"Give {len(flat)} labels, one a unit."
        )
    drawn = np.zeros((n_resamples, flat.shape[1]), dtype=np.int64)
    for stratum in np.unique(labels):
        rows, counts = np.unique(flat[labels == stratum], axis=0, return_counts=True)
        used = rows.any(axis=0)
        columns = rows[:, used].astype(np.float64)
        for part, times in _times_drawn(counts, rng, n_resamples):
            drawn[part, used] += np.rint(product(times, columns)).astype(np.int64)
    return drawn.reshape(n_resamples, *tables.shape[1:])


def _times_drawn(
    counts: NDArray[np.int64], rng: np.random.Generator, n_resamples: int
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """How often each of the tables comes up in each resample, some resamples at a time."""
    n, n_tables = int(counts.sum()), len(counts)
    if n_tables * 3 > n:  # few are alike: to draw the units themselves is quicker
        first = np.cumsum(counts) - counts
        for part, weights in resample_weights(n, rng, n_resamples):
            yield part, np.add.reduceat(weights, first, axis=1)
        return
    step = max(1, CELLS_AT_ONCE // n_tables)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        times = rng.multinomial(n, counts / n, size=size)
        yield slice(start, start + size), times.astype(np.float64)
