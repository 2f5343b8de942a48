"""Aspect Recall of a selection that fits its budget (spec rules 7 and 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from evidencebench_core.errors import SettingError, shown

__all__ = ["Denominator", "aspect_recall", "checked_budget", "n_counted", "times_covered"]

Denominator = Literal["all", "coverable"]


def checked_budget(budget: int) -> int:
    """The budget as it is.

    Raises
    ------
    SettingError
        If it is negative.
    """
    if budget < 0:
        raise SettingError("budget", f"is {shown(budget)}", "Give the number of sentences, 0 or more.")
    return budget


def n_counted(covers: Sequence[frozenset[int]], denominator: Denominator = "all") -> int:
    """How many aspects stand in the denominator.

    Parameters
    ----------
    covers : sequence of frozenset of int
        One set of covering sentences per aspect.
    denominator : {"all", "coverable"}
        ``"all"`` is the paper's, all aspects of the evidence set; ``"coverable"`` is that of the
        authors' code, those that at least one sentence of the paper covers.

    Raises
    ------
    SettingError
        For any other denominator.
    """
    if denominator == "all":
        return len(covers)
    if denominator == "coverable":
        return sum(map(bool, covers))
    raise SettingError("denominator", f"is {shown(denominator)}", "Denominators are: all, coverable.")


def aspect_recall(
    selection: Iterable[int], covers: Sequence[frozenset[int]], denominator: Denominator = "all"
) -> float | None:
    """Share of the aspects that at least one selected sentence covers.

    Parameters
    ----------
    selection : iterable of int
        Sentence indices; order and repetition make no difference.
    covers : sequence of frozenset of int
        One set of covering sentences per aspect.
    denominator : {"all", "coverable"}
        See `n_counted`.

    Returns
    -------
    float or None
        0 to 1; 0 for an empty selection; ``None`` where there is nothing to cover.

    Notes
    -----
    Aspect Recall @K of the EvidenceBench paper, section "Evaluation Metrics".
    """
    n_aspects = n_counted(covers, denominator)
    if not n_aspects:
        return None
    picked = set(selection)
    return sum(not cover.isdisjoint(picked) for cover in covers) / n_aspects


def times_covered(selection: Iterable[int], covers: Sequence[frozenset[int]]) -> tuple[int, ...]:
    """For every aspect, how many different selected sentences cover it: 0 is missed, 2 is covered twice."""
    picked = frozenset(selection)
    return tuple(len(cover & picked) for cover in covers)
