"""Paired randomisation tests: p-values of sign flips, of one pair and of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.stats.resampling import CELLS_AT_ONCE, cluster_sums, product

DECIMALS: Final = 12  # differences below 1e-12 are rounding, not a win
_ROUNDING: Final = 1e-9  # sums nearer than this are alike
_EXACT_UP_TO: Final = 13  # 2**13 = 8,192 ways to flip the signs: fewer than the usual draws, so take them all


def randomisation_p_value(
    differences: NDArray[np.float64], rng: np.random.Generator, n_resamples: int
) -> float | None:
    """Two-sided p-value of the sign-flip test of a mean difference of 0.

    Parameters
    ----------
    differences : array of float, shape (n,)
        Of pairs, or the sums over clusters of pairs that change sign together. ``None`` for fewer than 2.

    Notes
    -----
    If the systems were alike, each difference could as well have the other sign. Up to 13 pairs that
    differ, all sign flips are counted and the p-value is exact; beyond, flips are drawn and it is
    ``(1 + as extreme) / (1 + drawn)``, which is never 0 (Phipson and Smyth, 2010).
    """
    if differences.size < 2:
        return None
    sizes = np.abs(differences[differences != 0])
    threshold = abs(float(differences.sum())) * (1 - _ROUNDING) - 10.0**-DECIMALS
    if sizes.size > _EXACT_UP_TO:
        return (1 + _n_as_extreme(sizes, threshold, rng, n_resamples)) / (1 + n_resamples)
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return float((np.abs(sums) >= threshold).mean())


def _n_as_extreme(
    sizes: NDArray[np.float64], threshold: float, rng: np.random.Generator, n_resamples: int
) -> int:
    """How many of ``n_resamples`` random sign flips have a sum that is no nearer to 0 than the threshold.

    Of c pairs with one size, Binomial(c, 1/2) keep a plus: where few sizes recur, these are drawn per
    size and not per pair.
    """
    distinct, counts = np.unique(sizes, return_counts=True)
    alone = distinct.size * 16 >= sizes.size
    if alone:
        distinct = sizes
    step = max(1, CELLS_AT_ONCE // distinct.size)
    as_extreme = 0
    for start in range(0, n_resamples, step):
        shape = (min(step, n_resamples - start), distinct.size)
        plus = rng.integers(0, 2, shape, dtype=np.int8) if alone else rng.binomial(counts, 0.5, shape)
        sums = 2 * (plus @ distinct) - sizes.sum()
        as_extreme += int((np.abs(sums) >= threshold).sum())
    return as_extreme


def pairwise_p_values(
    matrix: NDArray[np.float64],
    rng: np.random.Generator,
    n_resamples: int,
    numbers: NDArray[np.int64] | None,
) -> NDArray[np.float64]:
    """Two-sided p-values of all pairs of rows, clusters changing sign as a whole; NaN on the diagonal.

    With s random signs, ``s @ (a - b)`` is ``s @ a - s @ b``: one product for each system, not for each
    pair. Pairs that differ in few clusters get their exact p-value instead.
    """
    n_systems = len(matrix)
    p_values = np.full((n_systems, n_systems), np.nan)
    sums, sizes = cluster_sums(matrix, numbers)
    if n_systems < 2 or sizes.size < 2:
        return p_values
    centred = sums - sums.mean(axis=0)  # the same for every pair, and numbers nearer to 0
    first, second = np.triu_indices(n_systems, 1)
    totals = centred.sum(axis=1)
    thresholds = np.abs(totals[first] - totals[second]) * (1.0 - _ROUNDING) - _ROUNDING
    as_extreme = np.zeros(first.size, dtype=np.int64)
    for drawn in _signed_sums(centred, rng, n_resamples, first.size):
        as_extreme += (np.abs(drawn[:, first] - drawn[:, second]) >= thresholds).sum(axis=0)
    for a, b, count in zip(first, second, as_extreme, strict=True):
        differences = np.round(sums[a] - sums[b], DECIMALS)
        p: float | None = (1 + count) / (1 + n_resamples)
        if np.count_nonzero(differences) <= _EXACT_UP_TO:
            p = randomisation_p_value(differences, rng, n_resamples)
        p_values[a, b] = p_values[b, a] = p
    return p_values


def _signed_sums(
    sums: NDArray[np.float64], rng: np.random.Generator, n_resamples: int, n_pairs: int
) -> Iterator[NDArray[np.float64]]:
    """Sums of the rows with random signs, shape (some resamples, n_systems), in bounded memory."""
    n = sums.shape[1]
    columns = np.ascontiguousarray(sums.T)
    step = max(1, CELLS_AT_ONCE // max(n, n_pairs))
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        drawn = np.frombuffer(rng.bytes(size * n // 8 + 1), dtype=np.uint8)
        plus = np.unpackbits(drawn, count=size * n).reshape(size, n)
        yield 2.0 * product(plus.astype(np.float64), columns) - columns.sum(axis=0)
