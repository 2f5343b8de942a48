"""Aspect Recall of a selection that fits its budget, pick by pick and sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evidencebench_core.errors import SettingError, shown

Mark = Literal["none", "gold", "picked", "both", "missed"]


def check_budget(budget: int | None) -> None:
    if budget is not None and budget < 0:
        raise SettingError("budget", f"is {shown(budget)}", "Give the number of sentences, 0 or more.")


def aspect_recall(selection: Iterable[int], covers: Sequence[frozenset[int]]) -> float | None:
    """Share of the aspects that at least one selected sentence covers, 0 to 1.

    Aspect Recall @K of the EvidenceBench paper, section "Evaluation Metrics". Order and repetition make no
    difference; ``covers`` has one set of covering sentences per aspect. 0 for an empty selection; ``None`` without
    aspects.
    """
    if not covers:
        return None
    picked = set(selection)
    return sum(not cover.isdisjoint(picked) for cover in covers) / len(covers)


def times_covered(selection: Iterable[int], covers: Sequence[frozenset[int]]) -> tuple[int, ...]:
    """For every aspect, how many different selected sentences cover it: 0 is missed, 2 is covered twice."""
    picked = frozenset(selection)
    return tuple(len(cover & picked) for cover in covers)


@dataclass(frozen=True, slots=True)
class Gain:
    """One pick and what it is worth where it stands.

    Attributes
    ----------
    sentence : int
        Sentence index.
    new, repeated : tuple of int
        Positions (in ``covers``) of the aspects that it is the first to cover, and of those that an earlier
        pick covers already, ascending.
    recall_so_far : float or None
        Aspect Recall of this pick and all before it, 0 to 1; ``None`` where there is nothing to cover.
    """

    sentence: int
    new: tuple[int, ...]
    repeated: tuple[int, ...]
    recall_so_far: float | None


def marginal_gains(selection: Iterable[int], covers: Sequence[frozenset[int]]) -> tuple[Gain, ...]:
    """The ledger of a selection: one `Gain` per pick, in the order of the picks.

    A sentence picked twice is listed twice; the second time all it covers is repeated. Arguments are those
    of `aspect_recall`, and recall is over all aspects.
    """
    n_aspects = len(covers)
    covered: set[int] = set()
    gains: list[Gain] = []
    for sentence in selection:
        meets = [position for position, cover in enumerate(covers) if sentence in cover]
        new = tuple(position for position in meets if position not in covered)
        repeated = tuple(position for position in meets if position in covered)
        covered.update(new)
        gains.append(Gain(sentence, new, repeated, len(covered) / n_aspects if n_aspects else None))
    return tuple(gains)


def marks(
    selection: Iterable[int] | None, covers: Sequence[frozenset[int]], n_sentences: int
) -> tuple[Mark, ...]:
    """One mark for each of the ``n_sentences`` of the paper.

    ``"both"``: picked and covers an aspect; ``"picked"``: picked and covers none; ``"missed"``: not picked,
    and covers an aspect that no pick covers; ``"gold"``: not picked, covers aspects, and the picks cover all
    of those; ``"none"``: neither. Where nobody has selected (``None``), nothing can be missed.
    """
    picked = frozenset(() if selection is None else selection)
    covering = frozenset().union(*covers)
    missed = frozenset().union(
        *(cover for cover in covers if selection is not None and cover.isdisjoint(picked))
    )

    def mark(sentence: int) -> Mark:
        if sentence in picked:
            return "both" if sentence in covering else "picked"
        if sentence in missed:
            return "missed"
        return "gold" if sentence in covering else "none"

    return tuple(mark(sentence) for sentence in range(n_sentences))
