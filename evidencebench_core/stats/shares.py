"""Shares of things that are one way or the other, and whether a share is the same under several conditions."""

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.stats.intervals import Estimate, cluster_numbers, finite, interval


def share(is_counted: ArrayLike, clusters: ArrayLike | None = None) -> Estimate:
    """The share of ones among 0 and 1 with Wilson's 95% interval, which has a width even at 0 and 1.

    Values of one cluster (such as a paper) are drawn together and get `interval` instead. Wilson, Journal of
    the American Statistical Association 22 (1927), 209-212.
    """
    values = finite(is_counted)
    n = len(values)
    if not n:
        return Estimate(None)
    if len(np.unique(cluster_numbers(clusters, n))) < n:
        return interval(values, clusters)
    from scipy.stats import binomtest  # here: scipy.stats takes most of a second

    ends = binomtest(round(values.sum()), n).proportion_ci(method="wilson")
    return Estimate(float(values.mean()), float(ends.low), float(ends.high), n)


def cochran_q(table: ArrayLike) -> float | None:
    """The p-value of Cochran's Q: that a yes is as frequent in every column of an array of 0 and 1.

    Rows are things, each under all conditions (columns). ``None`` for fewer than two columns, or where no row
    differs. Cochran, Biometrika 37 (1950), 256-266.
    """
    values = finite(table)
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    n_columns, of_rows, of_columns = values.shape[1], values.sum(axis=1), values.sum(axis=0)
    spread = (of_rows * (n_columns - of_rows)).sum()
    if not spread:
        return None
    from scipy.special import chdtrc

    q = n_columns * (n_columns - 1) * ((of_columns - of_columns.mean()) ** 2).sum() / spread
    return float(chdtrc(n_columns - 1, q))
