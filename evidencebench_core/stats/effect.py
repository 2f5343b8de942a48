"""How large a paired difference is, and how small a one could have been seen."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.bootstrap import finite_values
from evidencebench_core.stats.weights import cluster_numbers, cluster_sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["detectable_factor", "effect_size", "mean_errors", "smallest_detectable"]

_NO_SPREAD = 1e-12


def effect_size(differences: ArrayLike) -> float | None:
    """Standardised mean difference of pairs, d_z: mean of the differences / their standard deviation.

    Parameters
    ----------
    differences : array-like of float, shape (n,)
        One an instance.

    Returns
    -------
    float or None
        Without unit; the standard deviation is that of a sample (ddof 1). ``None`` for fewer than two
        differences, and where all are alike, so that there is no spread to measure by.

    Raises
    ------
    SettingError
        If a difference is not finite.

    Notes
    -----
    Cohen, Statistical Power Analysis (1988), section 2.3.5; Lakens, Frontiers in Psychology 4:863
    (2013), equation 6. It is not the d of two independent groups: pairs that go together make it larger.
    """
    array = finite_values(differences, "differences")
    if array.size < 2:
        return None
    spread = float(array.std(ddof=1))
    return float(array.mean()) / spread if spread > _NO_SPREAD else None


def smallest_detectable(
    differences: ArrayLike, alpha: float = 0.05, power: float = 0.8, clusters: ArrayLike | None = None
) -> float | None:
    """The smallest true mean difference that this many pairs, so spread, would show to be one.

    ``(z(1 - alpha / 2) + z(power)) * SE``, SE being the standard error of the mean difference,
    ``sd / sqrt(n)`` where every instance is alone in its cluster: 2.80 SE for 5% and 80%.

    Parameters
    ----------
    differences : array-like of float, shape (n,)
    alpha, power : float
        Level of the two-sided test, and probability to find a difference of that size; both between 0
        and 1.
    clusters : array-like of str or int, shape (n,), optional
        Instances with one label belong together, say to one paper.

    Returns
    -------
    float or None
        In the unit of the differences; ``None`` for fewer than two clusters.

    Raises
    ------
    SettingError
        If a difference is not finite, or a setting is out of its range.

    Notes
    -----
    Bloom, Minimum detectable effects, Evaluation Review 19 (1995), 547-556, with the normal quantiles of
    many degrees of freedom; the standard error over clusters is that of Liang and Zeger (1986) with the
    factor G / (G - 1) for G clusters.
    """
    array = finite_values(differences, "differences")
    factor = detectable_factor(alpha, power)
    error = float(mean_errors(array[None, :], cluster_numbers(clusters, array.size))[0])
    return factor * error if error == error else None  # noqa: PLR0124 - NaN


def detectable_factor(alpha: float, power: float) -> float:
    """``z(1 - alpha / 2) + z(power)``, how many standard errors off 0 a difference must truly be."""
    for name, share in (("alpha", alpha), ("power", power)):
        if not 0.0 < share < 1.0:
            raise SettingError(name, f"is {shown(share)}", "Give a share between 0 and 1.")
    normal = NormalDist()
    return normal.inv_cdf(1.0 - alpha / 2.0) + normal.inv_cdf(power)


def mean_errors(values: NDArray[np.float64], numbers: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Standard errors of the means of rows, over clusters; NaN for fewer than two clusters.

    Parameters
    ----------
    values : array of float, shape (n_rows, n)
    numbers : array of int, shape (n,), or None
        Of the clusters; ``None`` where each instance is alone: then ``std(ddof=1) / sqrt(n)``.

    Returns
    -------
    array of float, shape (n_rows,)
    """
    import numpy as np

    n = values.shape[1]
    n_clusters = n if numbers is None else int(numbers.max()) + 1
    if n_clusters < 2:
        return np.full(len(values), np.nan)
    sums, _ = cluster_sums(values - values.mean(axis=1, keepdims=True), numbers)
    squares = (sums**2).sum(axis=1) * (n_clusters / (n_clusters - 1))
    return np.asarray(np.sqrt(squares) / n)
