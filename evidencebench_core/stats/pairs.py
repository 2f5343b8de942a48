"""Two systems over the same instances: is the difference of their means more than noise?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.intervals import (
    LARGE,
    Estimate,
    Values,
    cluster_numbers,
    cluster_sums,
    finite,
    ratios,
)

_DECIMALS: Final = 12  # a smaller difference is rounding, not a win
_EXACT: Final = 13  # 2**13 = 8,192 ways to flip the signs: fewer than the usual draws, so all are counted
_DRAWN: Final = 10_000  # ways to flip them where not all are counted


@dataclass(frozen=True, slots=True)
class Paired:
    """System a against system b, instance by instance."""

    n: int
    mean_a: float | None
    mean_b: float | None
    difference: Estimate  # a minus b; without an interval where it is the same in all clusters
    p: float | None  # two-sided; None, like the interval, for fewer than two clusters
    wins: int  # instances on which a is above b
    ties: int
    losses: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values, the difference as ``difference, low, high``."""
        ends = {"difference": self.difference.value, "low": self.difference.low, "high": self.difference.high}
        names = ("n", "mean_a", "mean_b", *ends, "p", "wins", "ties", "losses")
        return {name: ends[name] if name in ends else getattr(self, name) for name in names}


def paired(a: ArrayLike, b: ArrayLike, clusters: ArrayLike | None = None) -> Paired:
    """Compare two systems over the same instances; those of one label in ``clusters`` (papers) are drawn together.

    The p-value is of the sign-flip test of the papers' summed differences: were the systems alike, each could as
    well have the other sign. Up to 13 papers that differ all flips are counted; beyond, p is (1 + as extreme) /
    (1 + drawn), which is never 0: Phipson and Smyth, Statistical Applications in Genetics 9:39 (2010). Over more
    than 500 papers that differ it is the test's normal limit.
    """
    array_a, array_b = finite(a), finite(b)
    n = len(array_a)
    if array_b.shape != (n,):  # numpy would stretch a single one
        raise SettingError("paired", f"is given {n} values and {len(array_b)}", "Pair them by instance.")
    differences = np.round(array_a - array_b, _DECIMALS)
    numbers = cluster_numbers(clusters, n)
    sums = np.round(cluster_sums(differences, numbers), _DECIMALS)
    both = np.stack([array_a, array_b], axis=1)
    *_, ends = ratios(both, np.ones_like(both), numbers, differences=[([0], [1])])
    return Paired(
        n=n,
        mean_a=float(array_a.mean()) if n else None,
        mean_b=float(array_b.mean()) if n else None,
        difference=Estimate(float(differences.mean()) if n else None, ends.low, ends.high, n),
        p=_sign_flip_p(sums),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


def _sign_flip_p(differences: Values) -> float | None:
    if len(differences) < 2:
        return None
    sizes = np.abs(differences[differences != 0])
    threshold = abs(float(differences.sum())) - 1e-9
    if sizes.size <= _EXACT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float((np.abs(sums) >= threshold).mean())
    if sizes.size > LARGE:
        return erfc(abs(float(differences.sum())) / float(np.sqrt(2 * (sizes**2).sum())))
    is_kept = np.random.default_rng(0).integers(0, 2, size=(_DRAWN, sizes.size), dtype=np.int8)
    sums = 2.0 * (is_kept @ sizes) - sizes.sum()
    n_extreme = int((np.abs(sums) >= threshold).sum())
    return (1 + n_extreme) / (1 + _DRAWN)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down correction, in the same order: reject where it is at most alpha.

    ``None`` is a test that could not be made: it stays ``None`` and does not count. Holm, Scandinavian Journal of
    Statistics 6 (1979), 65-70.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, (len(known) - rank) * p)
        adjusted[place] = min(1.0, largest)
    return tuple(adjusted)
