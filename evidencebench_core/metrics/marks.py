"""How a reader of the paper should see each sentence: gold, picked, both, missed or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

__all__ = ["Mark", "marks"]

Mark = Literal["none", "gold", "picked", "both", "missed"]


def marks(
    selection: Iterable[int] | None, covers: Sequence[frozenset[int]], n_sentences: int
) -> tuple[Mark, ...]:
    """One mark per sentence of the paper.

    Parameters
    ----------
    selection : iterable of int or None
        Sentence indices; ``None`` where nobody has selected, so that nothing can be missed.
    covers : sequence of frozenset of int
        One set of covering sentences per aspect.
    n_sentences : int
        Size of the candidate pool.

    Returns
    -------
    tuple of Mark
        Of length ``n_sentences``. ``"both"``: picked and covers an aspect; ``"picked"``: picked and
        covers none; ``"missed"``: not picked, and covers an aspect that no pick covers; ``"gold"``:
        not picked, covers aspects, and the picks cover all of those; ``"none"``: neither.
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
