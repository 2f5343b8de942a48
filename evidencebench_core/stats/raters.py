"""How alike two raters' yes-or-no judgements are, with intervals that allow for groups of judgements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats.bootstrap import Interval, percentile_interval
from evidencebench_core.stats.resampling import cluster_numbers


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """One measure of two raters' agreement.

    Attributes
    ----------
    value : float or None
        ``None`` where the measure is undefined.
    plain : (low, high) or None
        Percentile bootstrap interval, judgements being resampled each for itself; ``None`` for fewer than
        two judgements, or where over half of the resamples leave the measure undefined.
    hierarchical : (low, high) or None
        The same, groups being resampled first and judgements within each then; ``None`` too for fewer
        than two groups.
    plain_undefined : float
        Share of the resamples of ``plain`` that left the measure undefined, and were left out.
    """

    value: float | None
    plain: Interval | None
    hierarchical: Interval | None
    plain_undefined: float


def cross_table(a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.int64]:
    """How many judgements are yes by both, by a only, by b only, and by neither: shape (4,) or (n_groups, 4)."""
    first, second = _judgements(a, "first rater"), _judgements(b, "second rater")
    if first.shape != second.shape:
        raise SettingError(
            "judgements",
            f"are {first.size} of the first rater and {second.size} of the second",
            "Give both raters' judgements of the same things, in one order.",
        )
    cell = np.where(first, np.where(second, 0, 1), np.where(second, 2, 3))
    if groups is None:
        return np.bincount(cell, minlength=4)
    numbers = cluster_numbers(groups, first.size)
    if numbers is None:  # each is alone in its group
        return np.eye(4, dtype=np.int64)[cell]
    n_groups = int(numbers.max(initial=-1)) + 1
    return np.bincount(4 * numbers + cell, minlength=4 * n_groups).reshape(n_groups, 4)


def exact_accuracy(counts: ArrayLike) -> NDArray[np.float64]:
    """Share of the judgements on which the raters agree, 0 to 1; NaN where there are none."""
    both, only_a, only_b, neither = _cells(counts)
    return _ratio(both + neither, both + only_a + only_b + neither)


def binary_f1(counts: ArrayLike) -> NDArray[np.float64]:
    """F1 of the yes, 0 to 1; the same whichever rater is taken for the truth; NaN where nobody said yes."""
    both, only_a, only_b, _ = _cells(counts)
    return _ratio(2 * both, 2 * both + only_a + only_b)


def cohen_kappa(counts: ArrayLike) -> NDArray[np.float64]:
    """Cohen's kappa, -1 to 1; NaN where agreement by chance is certain (both said the same throughout).

    Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
    (1960): (p_o - p_e) / (1 - p_e), here with numerator and denominator times n².
    """
    both, only_a, only_b, neither = _cells(counts)
    n = both + only_a + only_b + neither
    by_chance = (both + only_a) * (both + only_b) + (neither + only_a) * (neither + only_b)
    return _ratio(n * (both + neither) - by_chance, n * n - by_chance)


def spearman(counts: ArrayLike) -> NDArray[np.float64]:
    """Spearman's rank correlation, -1 to 1; NaN where a rater said the same throughout.

    Of two yes-or-no judgements it is Pearson's, and the phi coefficient of the table.
    """
    both, only_a, only_b, neither = _cells(counts)
    spread = np.sqrt(both + only_a) * np.sqrt(both + only_b)
    spread = spread * np.sqrt(neither + only_a) * np.sqrt(neither + only_b)
    return _ratio(both * neither - only_a * only_b, spread)


MEASURES: Final[Mapping[str, Callable[[ArrayLike], NDArray[np.float64]]]] = {
    "exact accuracy": exact_accuracy,
    "binary F1": binary_f1,
    "Cohen's kappa": cohen_kappa,
    "Spearman's rho": spearman,
}
"""Those of the paper's table 2."""


def rater_agreement(
    a: ArrayLike, b: ArrayLike, groups: ArrayLike, rng: np.random.Generator, n_resamples: int = 10_000
) -> dict[str, RaterAgreement]:
    """Every measure of `MEASURES` with its 95% intervals.

    Parameters
    ----------
    a, b : array-like of bool, shape (n,)
        What each rater said of the same n things; `SettingError` if it is no yes or no.
    groups : array-like of str or int, shape (n,)
        What belongs together: the paper (or the aspect) a judgement is about.
    rng, n_resamples
        As of `bootstrap_interval`.

    Notes
    -----
    As in EvidenceBench's appendix D: the plain bootstrap draws judgements, the hierarchical one "first
    papers, then sentences within papers". All measures depend on the cross table alone, so it is drawn
    at once (multinomially), which has the same distribution as drawing the judgements.
    """
    if n_resamples < 1:
        raise SettingError("n_resamples", f"is {shown(n_resamples)}", "Give a positive number.")
    by_group = cross_table(a, b, groups)
    counts = by_group.sum(axis=0)
    n = int(counts.sum())
    plain = rng.multinomial(n, counts / n, size=n_resamples) if n > 1 else None
    nested = _nested_tables(by_group, rng, n_resamples) if len(by_group) > 1 else None
    agreement = {}
    for name, measure in MEASURES.items():
        value = float(measure(counts))
        (around, undefined), (nested_around, _) = (_interval(measure, drawn) for drawn in (plain, nested))
        known = None if np.isnan(value) else value
        agreement[name] = RaterAgreement(known, around, nested_around, undefined)
    return agreement


def _nested_tables(
    by_group: NDArray[np.int64], rng: np.random.Generator, n_resamples: int
) -> NDArray[np.int64]:
    """Cross tables of resamples of the groups, and of the judgements within each that was drawn."""
    n_groups = len(by_group)
    sizes = by_group.sum(axis=1)
    times = rng.multinomial(n_groups, np.full(n_groups, 1.0 / n_groups), size=n_resamples)
    drawn = np.zeros((n_resamples, 4), dtype=np.int64)
    for group in range(n_groups):  # a group drawn t times gives t times its size
        drawn += rng.multinomial(times[:, group] * sizes[group], by_group[group] / sizes[group])
    return drawn


def _interval(
    measure: Callable[[ArrayLike], NDArray[np.float64]], drawn: NDArray[np.int64] | None
) -> tuple[Interval | None, float]:
    """Its 95% interval, and the share of the resamples that leave it undefined."""
    if drawn is None:
        return None, 0.0
    values = measure(drawn)
    return percentile_interval(values), float(np.isnan(values).mean())


def _judgements(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise SettingError(name, f"has judgements of the shape {array.shape}", "Give one yes or no a thing.")
    if array.size and not np.isin(array, (0, 1)).all():
        raise SettingError(name, "has judgements other than yes and no", "Give True or False for each.")
    return array.astype(np.bool_)


def _cells(counts: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    table = np.asarray(counts, dtype=np.float64)
    return tuple(np.moveaxis(table, -1, 0))


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)
