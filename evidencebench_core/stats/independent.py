"""Two groups of different instances: is the difference of their means more than noise?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.bootstrap import finite_values, resampled_means
from evidencebench_core.stats.weights import cluster_numbers, cluster_sums, resampled_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["IndependentComparison", "compare_independent"]


@dataclass(frozen=True, slots=True)
class IndependentComparison:
    """Group a against group b; nothing pairs the members of one with those of the other.

    Attributes
    ----------
    n_a, n_b : int
        Members of each group.
    mean_a, mean_b : float or None
        ``None`` for an empty group.
    mean_difference : float or None
        a minus b; ``None`` if a group is empty.
    ci95 : (low, high) or None
        Two-sample percentile bootstrap interval of the difference; ``None`` if a group has fewer than
        two members, or two clusters.
    """

    n_a: int
    n_b: int
    mean_a: float | None
    mean_b: float | None
    mean_difference: float | None
    ci95: tuple[float, float] | None


def compare_independent(
    a: ArrayLike,
    b: ArrayLike,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    level: float = 0.95,
    *,
    clusters_a: ArrayLike | None = None,
    clusters_b: ArrayLike | None = None,
) -> IndependentComparison:
    """Compare the means of two independent groups.

    Parameters
    ----------
    a, b : array-like of float, shapes (n_a,) and (n_b,)
    rng : numpy Generator
    n_resamples : int
        Each resample draws n_a members of a and, independently, n_b members of b.
    level : float
        Of the interval, between 0 and 1, both excluded.
    clusters_a, clusters_b : array-like of str or int, shapes (n_a,) and (n_b,), optional
        What the members belong to, such as papers: then whole clusters are drawn, as many as there are.

    Raises
    ------
    SettingError
        If a value is not finite, a setting is out of its range, or clusters differ in number from members.

    Notes
    -----
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 8.3. In groups of fewer than
    some 20 the interval is too short: it takes the few members for the whole spread.
    """
    import numpy as np

    if not 0.0 < level < 1.0:
        raise SettingError("level", f"is {shown(level)}", "Give a share between 0 and 1, such as 0.95.")
    group_a, group_b = finite_values(a, "a"), finite_values(b, "b")
    mean_a, mean_b = (float(group.mean()) if group.size else None for group in (group_a, group_b))
    ci95: tuple[float, float] | None = None
    numbers_a, numbers_b = (
        cluster_numbers(clusters_a, group_a.size),
        cluster_numbers(clusters_b, group_b.size),
    )
    if min(_n_drawn(group_a, numbers_a), _n_drawn(group_b, numbers_b)) >= 2:
        means_a = _means(group_a, numbers_a, rng, n_resamples)
        differences = means_a - _means(group_b, numbers_b, rng, n_resamples)
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(differences, [tail, 1.0 - tail])
        ci95 = float(low), float(high)
    return IndependentComparison(
        n_a=int(group_a.size),
        n_b=int(group_b.size),
        mean_a=mean_a,
        mean_b=mean_b,
        mean_difference=None if mean_a is None or mean_b is None else mean_a - mean_b,
        ci95=ci95,
    )


def _n_drawn(group: NDArray[np.float64], numbers: NDArray[np.int64] | None) -> int:
    """How many things a resample draws: members, or clusters."""
    return int(group.size if numbers is None else numbers.max() + 1)


def _means(
    group: NDArray[np.float64],
    numbers: NDArray[np.int64] | None,
    rng: np.random.Generator,
    n_resamples: int,
) -> NDArray[np.float64]:
    """Means of the resamples."""
    if numbers is None:
        return resampled_means(group, rng, n_resamples)
    return resampled_matrix(*cluster_sums(group[None, :], numbers), rng, n_resamples)[:, 0]
