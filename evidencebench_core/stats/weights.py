"""Resampling whole clusters: how often each comes up in a resample, and the means that follow.

Instances of one paper succeed and fail together, so they are drawn together: a cluster is a paper, and a
resample draws as many clusters as there are, with replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "cluster_numbers",
    "cluster_sums",
    "product",
    "resample_weights",
    "resampled_groups",
    "resampled_matrix",
]

_CELLS_AT_ONCE = 2_000_000  # weights held at a time: 16 MB of float64

_BLOCK = 256  # columns of weights multiplied at a time
_THREADS_FROM = 262_144  # multiplications, from which on OpenBLAS starts threads


def cluster_numbers(clusters: ArrayLike | None, n: int) -> NDArray[np.int64] | None:
    """Every instance's cluster as a number from 0; ``None`` where each is alone in its own.

    Parameters
    ----------
    clusters : array-like of str or int, shape (n,), or None
        Equal labels belong together.

    Raises
    ------
    SettingError
        If there are not as many labels as instances.
    """
    import numpy as np

    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise SettingError("clusters", f"have the shape {labels.shape}", f"Give {n} labels, one an instance.")
    distinct, numbers = np.unique(labels, return_inverse=True)
    return None if distinct.size == n else numbers.astype(np.int64)


def cluster_sums(
    values: NDArray[np.float64], numbers: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of the values within each cluster, and the clusters' sizes.

    Parameters
    ----------
    values : array of float, shape (n_rows, n)
    numbers : array of int, shape (n,), or None
        From `cluster_numbers`.

    Returns
    -------
    sums : array of float, shape (n_rows, n_clusters)
    sizes : array of float, shape (n_clusters,)
    """
    import numpy as np

    if numbers is None:
        return values, np.ones(values.shape[1])
    n_clusters = int(numbers.max()) + 1
    sums = np.array([np.bincount(numbers, weights=row, minlength=n_clusters) for row in values])
    return sums.reshape(len(values), n_clusters), np.bincount(numbers, minlength=n_clusters).astype(float)


def resample_weights(
    n: int, rng: np.random.Generator, n_resamples: int
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """How often each of ``n`` comes up in each resample, some resamples at a time, in bounded memory.

    Yields
    ------
    slice, array of float, shape (size, n)
        Which resamples these are, and their weights; every row adds up to ``n``.

    Raises
    ------
    SettingError
        If ``n_resamples`` is not positive.
    """
    import numpy as np

    if n_resamples < 1:
        raise SettingError("n_resamples", f"is {shown(n_resamples)}", "Give a positive number.")
    step = max(1, min(n_resamples, _CELLS_AT_ONCE // max(1, n)))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        weights = np.empty((size, n))
        for row, drawn in zip(weights, rng.integers(0, n, size=(size, n), dtype=np.int32), strict=True):
            row[:] = np.bincount(drawn, minlength=n)  # a row at a time stays in the processor's cache
        yield slice(start, start + size), weights


def product(weights: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """``weights @ columns``, in blocks for which BLAS starts no threads where there are few columns.

    Its threads wait for each other without rest: on a machine that has other work, the plain product of
    weights of 20,000 instances takes several times as long as this.
    """
    import numpy as np

    rows = _THREADS_FROM // (_BLOCK * max(1, columns.shape[1]))
    if rows < 16 or len(columns) <= _BLOCK:
        return np.asarray(weights @ columns)
    found = np.zeros((len(weights), columns.shape[1]))
    for top in range(0, len(weights), rows):
        part, band = found[top : top + rows], weights[top : top + rows]
        for left in range(0, len(columns), _BLOCK):
            part += band[:, left : left + _BLOCK] @ columns[left : left + _BLOCK]
    return found


def resampled_matrix(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], rng: np.random.Generator, n_resamples: int
) -> NDArray[np.float64]:
    """Means of all rows in each resample of the clusters; one resample is the same for all rows.

    Parameters
    ----------
    sums, sizes
        From `cluster_sums`; at least one cluster.

    Returns
    -------
    array of float, shape (n_resamples, n_rows)
    """
    import numpy as np

    means = np.empty((n_resamples, sums.shape[0]))
    columns = np.column_stack([sums.T, sizes])
    for part, weights in resample_weights(sizes.size, rng, n_resamples):
        found = product(weights, columns)
        means[part] = found[:, :-1] / found[:, -1:]
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
    import numpy as np

    n_groups, n_rows = len(groups), len(values)
    members = groups.astype(np.float64)
    sums, _ = cluster_sums((members[:, None, :] * values[None, :, :]).reshape(n_groups * n_rows, -1), numbers)
    sizes, _ = cluster_sums(members, numbers)
    tops, bottoms = np.ascontiguousarray(sums.T), np.ascontiguousarray(sizes.T)
    means = np.empty((n_resamples, n_groups, n_rows))
    for part, weights in resample_weights(sizes.shape[1], rng, n_resamples):
        counts = product(weights, bottoms)[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            means[part] = np.where(
                counts > 0, product(weights, tops).reshape(-1, n_groups, n_rows) / counts, np.nan
            )
    return means
