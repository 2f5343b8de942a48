"""Whether two kinds of labels rank systems alike: rank correlations with ties."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.stats.intervals import Estimate, Values, bootstrap, quotient

_DECIMALS = 9  # means that differ by less are tied


def kendall_tau(a: ArrayLike, b: ArrayLike) -> Values:
    """Kendall's tau-b of each row, shapes (m, n) -> m; NaN where a row of either is the same throughout."""
    signs = []
    for values in (a, b):
        rows = np.round(np.asarray(values, dtype=np.float64), _DECIMALS)
        first, second = np.triu_indices(rows.shape[-1], 1)
        signs.append(np.sign(rows[:, first] - rows[:, second]))
    return _correlation(*signs)


def spearman_rho(a: ArrayLike, b: ArrayLike) -> Values:
    """Spearman's rho of each row, shapes (m, n) -> m; NaN where a row of either is the same throughout."""
    from scipy.stats import rankdata

    ranks = []
    for values in (a, b):
        rows = np.round(np.asarray(values, dtype=np.float64), _DECIMALS)
        of_rows = rankdata(rows, axis=1)
        ranks.append(of_rows - of_rows.mean(axis=1, keepdims=True))
    return _correlation(*ranks)


def _correlation(x: Values, y: Values) -> Values:
    return quotient((x * y).sum(axis=1), np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def rank_agreement(a: ArrayLike, b: ArrayLike) -> tuple[Estimate, Estimate]:
    """Kendall's tau and Spearman's rho of the systems' means, with intervals that draw questions whole.

    Both have the shape (n_questions, n_systems), and NaN where a system has no value.
    """
    kinds = [np.asarray(values, dtype=np.float64) for values in (a, b)]
    units = np.stack(
        [np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=1) for values in kinds], axis=1
    )

    def of_means(correlation: Callable[[Values, Values], Values]) -> Estimate:
        def figure(sums: Values) -> Values:
            means = quotient(sums[:, :, 0], sums[:, :, 1])
            return correlation(means[:, 0], means[:, 1])

        return bootstrap(units, figure)

    return of_means(kendall_tau), of_means(spearman_rho)
