"""Resampling whole clusters: how often each comes up in a resample, and the means that follow.

Instances of one paper succeed and fail together, so they are drawn together: a cluster is a paper, and a
resample draws as many clusters as there are, with replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from evidencebench_core.errors import SettingError, shown

CELLS_AT_ONCE: Final = 2_000_000  # numbers held at a time: 16 MB of float64
_ROWS: Final = 32  # of weights, multiplied at a time
_CACHED: Final = 256  # rows of columns, looked at together
_PLAIN: Final = 256  # instances, up to which nothing is gained by that
_EXACT: Final = 1 << 24  # below it, every whole number is a float32
_THREADS_FROM: Final = 262_144  # multiplications, from which on OpenBLAS starts threads


def cluster_numbers(clusters: ArrayLike | None, n: int) -> NDArray[np.int64] | None:
    """Every instance's cluster as a number from 0; ``None`` where each is alone in its own.

    ``clusters`` are n labels (else a `SettingError`), or ``None``; equal labels belong together.
    """
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise SettingError("clusters", f"have the shape {labels.shape}", f"Give {n} labels, one an instance.")
    distinct, numbers = np.unique(labels, return_inverse=True)
    return None if distinct.size == n else numbers.astype(np.int64)


def n_clusters(numbers: NDArray[np.int64] | None, n: int) -> int:
    """How many things a resample of ``n`` instances draws."""
    return n if numbers is None else int(numbers.max()) + 1


def cluster_sums(
    values: NDArray[np.float64], numbers: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums within each cluster, shape (n_rows, n_clusters), of values of shape (n_rows, n); and the clusters' sizes.

    ``numbers`` are those of `cluster_numbers`.
    """
    if numbers is None:
        return values, np.ones(values.shape[1])
    n = n_clusters(numbers, numbers.size)
    sums = np.array([np.bincount(numbers, weights=row, minlength=n) for row in values])
    return sums.reshape(len(values), n), np.bincount(numbers, minlength=n).astype(float)


def resample_weights(
    n: int, rng: np.random.Generator, n_resamples: int, dtype: DTypeLike = np.float64
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """How often each of ``n`` comes up in each resample, some resamples at a time, in bounded memory.

    Yields the resamples' places and their weights, shape (size, n); every row adds up to ``n``.
    """
    _check_resamples(n_resamples)
    step = max(1, min(n_resamples, CELLS_AT_ONCE // max(1, n)))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        weights = np.empty((size, n), dtype=dtype)
        for row, drawn in zip(weights, rng.integers(0, n, size=(size, n), dtype=np.int32), strict=True):
            row[:] = np.bincount(drawn, minlength=n)  # a row at a time stays in the processor's cache
        yield slice(start, start + size), weights


def product(weights: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
    """``weights @ columns``, of many rows of columns in blocks for which BLAS starts no threads.

    Its threads wait for each other without rest: on a machine that has other work, the plain product of
    weights of 100,000 instances takes ten times as long as this.
    """
    block = _THREADS_FROM // (_ROWS * max(1, columns.shape[1]))
    if block < _ROWS or len(columns) <= _PLAIN:
        return np.asarray(weights @ columns, dtype=np.float64)
    result = np.zeros((len(weights), columns.shape[1]))
    for left in range(0, len(columns), block):
        band = columns[left : left + block]  # stays in the processor's cache
        for top in range(0, len(weights), _ROWS):
            result[top : top + _ROWS] += weights[top : top + _ROWS, left : left + block] @ band
    return result


def exact_columns(columns: NDArray[np.float64]) -> NDArray[Any]:
    """The columns, as float32 where all of their weighted sums are exact in it: in half the time."""
    narrow = np.empty(columns.shape, dtype=np.float32)
    for start in range(0, len(columns), _CACHED):
        rows = columns[start : start + _CACHED]  # stays in the processor's cache
        if len(columns) * np.abs(rows).max(initial=0) >= _EXACT or (rows != np.trunc(rows)).any():
            return np.ascontiguousarray(columns, dtype=np.float64)
        narrow[start : start + _CACHED] = rows
    return narrow


def resampled_matrix(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], rng: np.random.Generator, n_resamples: int
) -> NDArray[np.float64]:
    """Means of all rows in each resample of the clusters, shape (n_resamples, n_rows).

    ``sums`` and ``sizes`` are those of `cluster_sums`, of at least one cluster; one resample is the same for
    all rows. `SettingError` if ``n_resamples`` is not positive.
    """
    means = np.empty((n_resamples, sums.shape[0]))
    columns = np.column_stack([sums.T, sizes])
    for part, weights in resample_weights(sizes.size, rng, n_resamples):
        drawn = product(weights, columns)
        means[part] = drawn[:, :-1] / drawn[:, -1:]
    return means


def resampled_groups(
    values: NDArray[np.float64],
    groups: NDArray[np.bool_],
    numbers: NDArray[np.int64] | None,
    rng: np.random.Generator,
    n_resamples: int,
) -> NDArray[np.float64]:
    """Means of all rows within groups of instances, in each resample of the clusters of all of them.

    How many of a group's instances a resample has varies, as it would in other data.

    Parameters
    ----------
    values : array of float, shape (n_rows, n), n >= 1
    groups : array of bool, shape (n_groups, n)
        They may overlap.
    numbers : array of int, shape (n,), or None
        From `cluster_numbers`.

    Returns
    -------
    array of float, shape (n_resamples, n_groups, n_rows)
        NaN where a resample has nothing of a group.
    """
    n_groups, n_rows = len(groups), len(values)
    members = groups.astype(np.float64)
    sums, _ = cluster_sums((members[:, None, :] * values[None, :, :]).reshape(n_groups * n_rows, -1), numbers)
    sizes, _ = cluster_sums(members, numbers)
    columns = exact_columns(np.concatenate([sizes, sums]).T)
    means = np.empty((n_resamples, n_groups, n_rows))
    for part, weights in resample_weights(len(columns), rng, n_resamples, columns.dtype):
        drawn = product(weights, columns)
        counts = drawn[:, :n_groups, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            totals = drawn[:, n_groups:].reshape(-1, n_groups, n_rows)
            means[part] = np.where(counts > 0, totals / counts, np.nan)
    return means


def resampled_means(
    values: NDArray[np.float64],
    numbers: NDArray[np.int64] | None,
    rng: np.random.Generator,
    n_resamples: int,
) -> NDArray[np.float64]:
    """Means of one row, shape (n,), n >= 1, in each resample.

    Recall takes few different values, so over many instances it is quicker to draw how often each value
    comes up (multinomial) than to draw the instances: the distribution is the same.
    """
    if numbers is not None:
        return resampled_matrix(*cluster_sums(values[None, :], numbers), rng, n_resamples)[:, 0]
    _check_resamples(n_resamples)
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


def _check_resamples(n_resamples: int) -> None:
    if n_resamples < 1:
        raise SettingError("n_resamples", f"is {shown(n_resamples)}", "Give a positive number.")
