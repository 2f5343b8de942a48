"""From one selection to another: what is kept, gained and lost, and how alike they are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from evidencebench_core.metrics.coverage import times_covered


@dataclass(frozen=True, slots=True)
class Change:
    """The changes that another selection makes.

    Attributes
    ----------
    kept, gained : tuple of int
        Sentences in the order of the new picks.
    lost : tuple of int
        Sentences in the order of the old picks.
    aspects_gained, aspects_lost : tuple of int
        Positions (in ``covers``) of the aspects that only the new, or only the old picks cover, ascending.
    """

    kept: tuple[int, ...]
    gained: tuple[int, ...]
    lost: tuple[int, ...]
    aspects_gained: tuple[int, ...]
    aspects_lost: tuple[int, ...]


def selection_change(before: Sequence[int], after: Sequence[int], covers: Sequence[frozenset[int]]) -> Change:
    """The change from one selection to another; a sentence that was picked twice counts once."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    counts = list(enumerate(zip(times_covered(old, covers), times_covered(new, covers), strict=True)))
    return Change(
        kept=tuple(sentence for sentence in new if sentence in old),
        gained=tuple(sentence for sentence in new if sentence not in old),
        lost=tuple(sentence for sentence in old if sentence not in new),
        aspects_gained=tuple(position for position, (then, now) in counts if now and not then),
        aspects_lost=tuple(position for position, (then, now) in counts if then and not now),
    )


def overlap(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Share of the longer selection that the other has too, in any order; ``None`` for two empty ones."""
    longer = max(len(a), len(b))
    return len(set(a) & set(b)) / longer if longer else None
