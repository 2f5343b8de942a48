"""How alike two selections of the same things are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def overlap(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Share of the longer selection that the other has too, in any order; ``None`` for two empty ones."""
    longer = max(len(a), len(b))
    return len(set(a) & set(b)) / longer if longer else None
