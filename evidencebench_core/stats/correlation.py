"""Whether two measurements put systems in the same order: Spearman's rho and Kendall's tau-b of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.bootstrap import Interval, percentile_interval
from evidencebench_core.stats.randomisation import DECIMALS
from evidencebench_core.stats.resampling import CELLS_AT_ONCE, product, resample_weights


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """How alike two measurements order n systems.

    Attributes
    ----------
    rho, tau : float or None
        Spearman's rho and Kendall's tau-b, ties counted; ``None`` where a measurement is constant, or undefined
        for a system, or there are fewer than two.
    rho_ci95, tau_ci95 : (low, high) or None
        Percentile bootstrap over questions; ``None`` with fewer than two questions or an undefined value.
    n_systems, n_questions : int
    """

    rho: float | None
    tau: float | None
    rho_ci95: Interval | None
    tau_ci95: Interval | None
    n_systems: int
    n_questions: int


def spearman_rho(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Spearman's rho along the last axis, Pearson's correlation of average ranks; NaN where one is constant."""
    from scipy.stats import rankdata

    ranks_x, ranks_y = (rankdata(np.asarray(one, dtype=np.float64), axis=-1) for one in (x, y))
    ranks_x, ranks_y = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (ranks_x, ranks_y))
    return _quotient((ranks_x * ranks_y).sum(axis=-1), (ranks_x**2).sum(axis=-1) * (ranks_y**2).sum(axis=-1))


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Kendall's tau-b along the last axis; NaN where one is constant.

    Of values; `kendall_tau` takes rankings, best first. The formula is the same (Kendall, Biometrika 33, 1945).
    """
    values_x, values_y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    first, second = np.triu_indices(values_x.shape[-1], 1)
    signs_x = np.sign(values_x[..., first] - values_x[..., second])
    signs_y = np.sign(values_y[..., first] - values_y[..., second])
    return _quotient((signs_x * signs_y).sum(axis=-1), (signs_x**2).sum(axis=-1) * (signs_y**2).sum(axis=-1))


def rank_correlation(
    x: ArrayLike, y: ArrayLike, rng: np.random.Generator, n_resamples: int = 10_000
) -> RankCorrelation:
    """Rank systems by their means over questions, by two measurements, and correlate.

    Parameters
    ----------
    x, y : array-like of float, shape (n_systems, n_questions)
        NaN where a system has no value for a question: its mean is that of its others.
    rng : numpy Generator
    n_resamples : int
        Questions are drawn, the same for both, and all means computed again.

    Raises
    ------
    SettingError
        If the shapes differ or are not two-dimensional.
    """
    values = [np.asarray(one, dtype=np.float64) for one in (x, y)]
    if values[0].ndim != 2 or values[0].shape != values[1].shape:
        shapes = " and ".join(str(one.shape) for one in values)
        remedy = "Give both with one row a system and one column a question."
        raise SettingError("rank_correlation", f"has values of the shapes {shapes}", remedy)
    n_systems, n_questions = values[0].shape
    whole = [_means(one, np.ones((1, n_questions)))[0] for one in values]
    rho, tau = (_known(measure(*whole)) for measure in (spearman_rho, kendall_tau_b))
    rho_ci95 = tau_ci95 = None
    if n_questions > 1 and rho is not None:
        drawn = np.empty((2, n_resamples))
        step = max(1, CELLS_AT_ONCE // max(1, n_systems**2))
        for part, weights in resample_weights(n_questions, rng, n_resamples):
            means = [_means(one, weights) for one in values]
            for start in range(0, len(weights), step):
                piece = [one[start : start + step] for one in means]
                place = slice(part.start + start, part.start + start + len(piece[0]))
                drawn[0, place], drawn[1, place] = spearman_rho(*piece), kendall_tau_b(*piece)
        rho_ci95, tau_ci95 = (percentile_interval(one) for one in drawn)
    return RankCorrelation(rho, tau, rho_ci95, tau_ci95, n_systems, n_questions)


def _means(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted means over the questions that are defined, shape (n_weights, n_systems); ties are ties."""
    defined = ~np.isnan(values)
    sums = product(weights, np.where(defined, values, 0.0).T)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.round(sums / product(weights, defined.T.astype(np.float64)), DECIMALS)


def _quotient(top: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(squares > 0, top / np.sqrt(squares), np.nan))


def _known(value: NDArray[np.float64]) -> float | None:
    return None if np.isnan(value) else float(value)
