"""Two systems over the same instances: is the mean difference more than noise?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.bootstrap import CELLS_AT_ONCE, bootstrap_interval, finite_values
from evidencebench_core.stats.weights import cluster_numbers, cluster_sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["PairedComparison", "compare_paired", "randomisation_p_value"]

DECIMALS = 12  # differences below 1e-12 are rounding, not a win
EXACT_UP_TO = 13  # 2**13 = 8,192 ways to flip the signs: fewer than the usual draws, so take them all


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
        The i-th numbers belong to one instance.
    rng : numpy Generator
    n_resamples : int
        Of the bootstrap and of the randomisation test.
    clusters : array-like of str or int, shape (n,), optional
        Instances with one label, say of one paper, are drawn together and change sign together. With
        fewer than two clusters there is no interval and no p-value.

    Raises
    ------
    SettingError
        If the two differ in length, or a value is not finite.
    """
    import numpy as np

    array_a, array_b = finite_values(a, "a"), finite_values(b, "b")
    if array_a.size != array_b.size:
        raise SettingError(
            "compare_paired", f"a has {array_a.size} values, b has {array_b.size}", "Pair them by instance."
        )
    n = array_a.size
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
    import numpy as np

    if differences.size < 2:
        return None
    sizes = np.abs(differences[differences != 0])
    threshold = abs(float(differences.sum())) * (1 - 1e-9) - 10.0**-DECIMALS
    if sizes.size <= EXACT_UP_TO:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float((np.abs(sums) >= threshold).mean())
    as_extreme = _n_as_extreme(sizes, threshold, rng, n_resamples)
    return (1 + as_extreme) / (1 + n_resamples)


def _n_as_extreme(
    sizes: NDArray[np.float64], threshold: float, rng: np.random.Generator, n_resamples: int
) -> int:
    """How many of ``n_resamples`` random sign flips have a sum that is no nearer to 0 than the threshold.

    Of c pairs with one size, Binomial(c, 1/2) keep a plus: where few sizes recur, these are drawn per
    size and not per pair.
    """
    import numpy as np

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
