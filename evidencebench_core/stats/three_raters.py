"""Is a model as like two teams of people as they are like each other? (construction rules 46 and 47)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.bootstrap import Interval, percentile_interval
from evidencebench_core.stats.raters import MEASURES
from evidencebench_core.stats.resampling import cluster_numbers


@dataclass(frozen=True, slots=True)
class AgreementGap:
    """By one measure, how much more alike the teams are than team and model.

    Attributes
    ----------
    humans, model : float or None
        Of the two teams, and the mean of each team with the model; ``None`` where undefined.
    gap : float or None
        ``humans`` - ``model``.
    plain, hierarchical : (low, high) or None
        95% intervals of the gap: judgements drawn, or groups and judgements within each.
    p_plain, p_hierarchical : float or None
        Two-sided, of no gap: (1 + resamples at least as far from the gap as that is from 0) / (1 + resamples).
    n_undefined : int
        Plain resamples that left the gap undefined, and were left out.
    """

    humans: float | None
    model: float | None
    gap: float | None
    plain: Interval | None
    hierarchical: Interval | None
    p_plain: float | None
    p_hierarchical: float | None
    n_undefined: int

    def is_equivalent(self, margin: float) -> bool | None:
        """Whether the hierarchical interval, else the plain one, lies within so much of no gap."""
        bounds = self.hierarchical or self.plain
        return None if bounds is None else -margin < bounds[0] and bounds[1] < margin


def eight_cells(
    team_1: ArrayLike, team_2: ArrayLike, model: ArrayLike, groups: ArrayLike | None = None
) -> NDArray[np.int64]:
    """How many judgements have each pattern of team 1, team 2, model, 000 first: shape (n_groups, 8)."""
    bits = [np.asarray(one) for one in (team_1, team_2, model)]
    if len({one.shape for one in bits}) > 1 or bits[0].ndim != 1:
        raise SettingError(
            "judgements", "are not of the same things", "Give one yes or no of each of three raters."
        )
    if not all(np.isin(one, (0, 1)).all() for one in bits):
        raise SettingError("judgements", "are other than yes and no", "Give 1 or 0 for each.")
    pattern = sum(bit.astype(np.int64) << place for bit, place in zip(bits, (2, 1, 0), strict=True))
    numbers = cluster_numbers(groups, bits[0].size)
    if numbers is None:
        numbers = np.zeros(bits[0].size, dtype=np.int64)
    n_groups = int(numbers.max(initial=0)) + 1
    return np.bincount(8 * numbers + pattern, minlength=8 * n_groups).reshape(n_groups, 8)


def agreement_gaps(
    tables: ArrayLike, rng: np.random.Generator, n_resamples: int = 10_000
) -> dict[str, AgreementGap]:
    """The gap by every measure of `MEASURES`, from `eight_cells`; judgements are drawn with all three labels."""
    by_group = np.asarray(tables, dtype=np.int64)
    counts = by_group.sum(axis=0)
    n = int(counts.sum())
    plain = rng.multinomial(n, counts / n, size=n_resamples) if n > 1 else None
    nested = _nested(by_group[by_group.any(axis=1)], rng, n_resamples)
    found = {}
    for name in MEASURES:
        humans, model = (None if np.isnan(value) else float(value) for value in _alike(name, counts))
        gap = None if humans is None or model is None else humans - model
        around, p_plain, n_undefined = _around(name, plain, gap)
        nested_around, p_nested, _ = _around(name, nested, gap)
        found[name] = AgreementGap(humans, model, gap, around, nested_around, p_plain, p_nested, n_undefined)
    return found


def _alike(name: str, cells: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the teams, and the mean of each with the model."""
    measure = MEASURES[name]
    pairs = [measure(_cross(cells, *of)) for of in ((2, 1), (2, 0), (1, 0))]
    return pairs[0], (pairs[1] + pairs[2]) / 2


def _cross(cells: NDArray[np.int64], a: int, b: int) -> NDArray[np.int64]:
    """The cells (both, a only, b only, neither) of two of the three bits."""
    patterns = np.arange(8)
    in_a, in_b = (patterns >> a & 1).astype(bool), (patterns >> b & 1).astype(bool)
    of = (in_a & in_b, in_a & ~in_b, ~in_a & in_b, ~in_a & ~in_b)
    return np.stack([cells[..., one].sum(axis=-1) for one in of], axis=-1)


def _around(
    name: str, drawn: NDArray[np.int64] | None, gap: float | None
) -> tuple[Interval | None, float | None, int]:
    if drawn is None or gap is None:
        return None, None, 0
    humans, model = _alike(name, drawn)
    gaps = humans - model
    known = gaps[~np.isnan(gaps)]
    # A gap of nothing but rounding is none.
    far = np.abs(known - gap) >= abs(gap) - 1e-12
    p = (1 + int(far.sum())) / (1 + known.size) if known.size else None
    return percentile_interval(gaps), p, gaps.size - known.size


def _nested(
    by_group: NDArray[np.int64], rng: np.random.Generator, n_resamples: int
) -> NDArray[np.int64] | None:
    if len(by_group) < 2:
        return None
    sizes = by_group.sum(axis=1)
    times = rng.multinomial(len(by_group), np.full(len(by_group), 1 / len(by_group)), size=n_resamples)
    drawn = np.zeros((n_resamples, 8), dtype=np.int64)
    for group, size in enumerate(sizes):
        drawn += rng.multinomial(times[:, group] * size, by_group[group] / size)
    return drawn
