"""What each pick of a selection adds to those before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evidencebench_core.metrics.coverage import Denominator, n_counted

__all__ = ["Gain", "marginal_gains"]


@dataclass(frozen=True, slots=True)
class Gain:
    """One pick and what it is worth where it stands.

    Attributes
    ----------
    sentence : int
        Sentence index.
    new : tuple of int
        Positions (in ``covers``) of the aspects that it is the first to cover, ascending.
    repeated : tuple of int
        Positions of the aspects it covers that an earlier pick covers already, ascending.
    recall_so_far : float or None
        Aspect Recall of this pick and all before it, 0 to 1; ``None`` where there is nothing to cover.
    """

    sentence: int
    new: tuple[int, ...]
    repeated: tuple[int, ...]
    recall_so_far: float | None


def marginal_gains(
    selection: Iterable[int], covers: Sequence[frozenset[int]], denominator: Denominator = "all"
) -> tuple[Gain, ...]:
    """The ledger of a selection: one `Gain` per pick, in the order of the picks.

    A sentence picked twice is listed twice; the second time all it covers is repeated.

    Parameters
    ----------
    selection : iterable of int
        Sentence indices in the order in which they were picked.
    covers : sequence of frozenset of int
        One set of covering sentences per aspect.
    denominator : {"all", "coverable"}
        Which aspects count, see `coverage.n_counted`.
    """
    n_aspects = n_counted(covers, denominator)
    covered: set[int] = set()
    gains: list[Gain] = []
    for sentence in selection:
        meets = [position for position, cover in enumerate(covers) if sentence in cover]
        new = tuple(position for position in meets if position not in covered)
        repeated = tuple(position for position in meets if position in covered)
        covered.update(new)
        gains.append(Gain(sentence, new, repeated, len(covered) / n_aspects if n_aspects else None))
    return tuple(gains)
