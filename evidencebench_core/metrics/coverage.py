"""A selection pick by pick and sentence by sentence."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["none", "gold", "picked", "both", "missed"]


@dataclass(frozen=True, slots=True)
class Gain:
    """One pick and what it is worth where it stands; aspects are positions in ``covers``, ascending."""

    sentence: int
    new: tuple[int, ...]  # the aspects that it is the first to cover
    repeated: tuple[int, ...]  # those that an earlier pick covers already
    recall_so_far: float | None  # of it and all picks before, 0 to 1; None where there is nothing to cover


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


def overlap(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Share of the longer selection that the other has too, in any order; ``None`` for two empty ones."""
    longer = max(len(a), len(b))
    return len(set(a) & set(b)) / longer if longer else None
