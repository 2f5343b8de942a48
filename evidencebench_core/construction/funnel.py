"""The outcome of everything that went into a build: kept, or dropped for one of the reasons of construction rule 19."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

DropReason = Literal[
    "multi_citation", "cited_twice", "unresolvable", "licence", "no_full_text", "boundary_empty", "unsuitable",
    "hypothesis_refused", "no_aspects", "leak", "coverage", "too_few_aspects", "human",
]  # fmt: skip

LEAST_COVERAGE = 70
"""Percent of the aspects that must be covered by a sentence (rule 16); whole, so that nothing is rounded."""

LEAST_ASPECTS = 2
"""Covered aspects without which an instance is dropped (rule 18)."""


def coverage_drop(
    n_covered: int, n_aspects: int, percent: int = LEAST_COVERAGE, least: int = LEAST_ASPECTS
) -> DropReason | None:
    """Why an instance with so many of its aspects covered is dropped; ``None`` where it stays."""
    if not n_aspects:
        return "no_aspects"
    if 100 * n_covered < percent * n_aspects:
        return "coverage"
    return "too_few_aspects" if n_covered < least else None


@dataclass(slots=True)
class Funnel:
    """A tally of instances; its parts add up to ``n_in``."""

    n_kept: int = 0
    dropped: Counter[DropReason] = field(default_factory=Counter)

    @property
    def n_in(self) -> int:
        return self.n_kept + self.dropped.total()

    def as_dict(self) -> dict[str, Any]:
        return {"in": self.n_in, "kept": self.n_kept, "dropped": dict(sorted(self.dropped.items()))}
