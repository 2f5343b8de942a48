"""How evenly things are spread over classes (construction rules 62 and 63)."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Diversity:
    """Gini-Simpson, the chance that two things drawn with replacement are of different classes.

    Attributes
    ----------
    gini_simpson : float
        1 - sum p², 0 to ``greatest``; NaN where there is nothing.
    unbiased : float
        The same of two drawn without replacement, 1 - sum n(n-1)/(N(N-1)); NaN for counts that are not whole.
    greatest : float
        1 - 1/k, what it is where all k classes are equally frequent.
    evenness : float
        Share of the greatest value.
    effective : float
        So many equally frequent classes have the same value: 1/(1 - value).
    """

    gini_simpson: float
    unbiased: float
    greatest: float
    evenness: float
    effective: float


def diversity(counts: ArrayLike) -> Diversity:
    """Of how many things, or shares, each class has; classes without any count among the k."""
    n = np.asarray(counts, dtype=np.float64)
    total, k = float(n.sum()), n.size
    value = float(gini_simpson(n))
    whole = total > 1 and bool((n == np.floor(n)).all())
    unbiased = 1 - float((n * (n - 1)).sum()) / (total * (total - 1)) if whole else np.nan
    greatest = 1 - 1 / k if k else np.nan
    evenness = value / greatest if greatest else np.nan
    return Diversity(value, unbiased, greatest, evenness, 1 / (1 - value))


def gini_simpson(counts: ArrayLike) -> NDArray[np.float64]:
    """1 - sum p² along the last axis; NaN where there is nothing."""
    n = np.asarray(counts, dtype=np.float64)
    total = n.sum(axis=-1, keepdims=True)
    shares = np.divide(n, total, out=np.full_like(n, np.nan), where=total > 0)
    return np.asarray(1 - (shares**2).sum(axis=-1))


def total_variation(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Half the sum of the differences of two lists of shares along the last axis, 0 to 1."""
    return np.asarray(np.abs(np.asarray(p) - np.asarray(q)).sum(axis=-1) / 2)


def expected_distinct(n_having: ArrayLike, n: int, drawn: int) -> float:
    """How many classes at least one of so many things has that are drawn out of n without replacement, expected.

    ``n_having`` is how many of the n things have each class: rarefaction, exact.
    """
    drawn = min(drawn, n)

    def log_choose(of: int) -> float:
        return lgamma(of + 1) - lgamma(drawn + 1) - lgamma(of - drawn + 1)

    whole = log_choose(n)
    missed = [
        np.exp(log_choose(n - int(one)) - whole) if n - one >= drawn else 0.0 for one in np.asarray(n_having)
    ]
    return float(sum(1 - one for one in missed))
