"""The table of measures: a row here is all that `score`, `compare`, *Runs* and the exports need to show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from evidencebench_core.metrics.expectation import expected_recall

Picks = tuple[int, ...]
Covers = Sequence[frozenset[int]]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of one selection; a system's is the mean over instances.

    ``function`` takes the picks (each index once), ``covers`` and the budget (``None``: no limit), and returns a number
    from ``low`` to ``high``, or ``None`` where it is undefined. Of more picks than the budget, shares are expectations
    over all selections of ``budget`` of them. ``is_share``: shown in percent. ``source`` is that of the formula.
    """

    name: str
    title: str
    function: Callable[[Picks, Covers, int | None], float | None]
    low: float
    high: float
    higher_is_better: bool
    is_share: bool
    source: str


def n_picks(picks: Picks, covers: Covers, budget: int | None) -> float:
    """How many sentences were picked, those beyond the budget too."""
    return float(len(picks))


def precision(picks: Picks, covers: Covers, budget: int | None) -> float | None:
    """Share of the picks that cover an aspect, in expectation that of any part of them; 0 for an empty selection."""
    covering = frozenset[int]().union(*covers)
    return sum(pick in covering for pick in picks) / max(len(picks), 1) if covers else None


def f1(picks: Picks, covers: Covers, budget: int | None) -> float | None:
    """Harmonic mean of precision and Aspect Recall, both in expectation; 0 where both are 0."""
    shares = precision(picks, covers, budget) or 0.0, expected_recall(picks, covers, budget) or 0.0
    return 2 * shares[0] * shares[1] / (sum(shares) or 1.0) if covers else None


MEASURES: Final = (
    Measure("aspect_recall", "Aspect Recall", expected_recall, 0, 1, True, True, "the EvidenceBench paper"),
    Measure("picks", "Picks", n_picks, 0, inf, False, False, "a count"),
    Measure("precision", "Precision", precision, 0, 1, True, True, "van Rijsbergen (1979), chapter 7"),
    Measure("f1", "F1", f1, 0, 1, True, True, "van Rijsbergen (1979), chapter 7"),
)
"""Aspect Recall, which everything is about, comes first."""
