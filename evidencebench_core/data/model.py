"""A benchmark instance, once its raw form has been checked.

All of it is frozen and built of tuples, so it can be shared between threads and sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

SentenceType = Literal["section_name", "abstract", "normal_paragraph"]
Focus = Literal["all", "results"]

SUFFICIENT: Final = "sufficient spans"
"""``construction.gold`` of an instance whose gold is what people quoted, and not all that would do."""

SUFFICIENT_NOTE: Final = (
    "The gold is sufficient, not complete: sentences that nobody quoted may cover an aspect too. Recall is a lower "
    "bound, and optimal K an upper one."
)


@dataclass(frozen=True, slots=True)
class Aspect:
    """A study aspect: something an expert wants to learn from the paper."""

    id: str  # as in the file, unique in the instance
    sentence_indices: tuple[int, ...]  # 0-based, of the sentences that cover it, ascending
    is_result: bool  # whether it is listed as a result aspect
    label: str  # a short name for display, "A1" for the first aspect of the instance
    text: str | None = None  # what it says; the released datasets have ids only


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """The gold of an instance, without the paper: scoring a dataset reads none."""

    n_sentences: int  # size of the candidate pool
    aspects: tuple[Aspect, ...]  # in the order of the file
    optimal: int  # the smallest number of sentences that cover all aspects
    results_optimal: int | None  # the same for the result aspects; None where there are none

    def focused(self, focus: Focus) -> tuple[Aspect, ...]:
        """The aspects a task asks for: all of them, or the result aspects."""
        return self.aspects if focus == "all" else tuple(a for a in self.aspects if a.is_result)

    def covers(self, focus: Focus) -> tuple[frozenset[int], ...]:
        """For every aspect of the focus the set of sentences that cover it (what metrics take)."""
        return tuple(frozenset(aspect.sentence_indices) for aspect in self.focused(focus))

    def optimal_for(self, focus: Focus) -> int | None:
        """Optimal K of the focus, or ``None`` where there is nothing to cover."""
        return self.optimal if focus == "all" else self.results_optimal


@dataclass(frozen=True, slots=True)
class Instance:
    """One hypothesis with one paper and its gold."""

    id: str
    hypothesis: str
    paper_id: str
    sentences: tuple[str, ...]  # the candidate pool in the order of the paper; headings are candidates too
    sentence_types: tuple[SentenceType, ...]  # same length
    sections: tuple[str, ...]  # same length: "Abstract", the heading above, or "" before the first one
    evidence: EvidenceSet
    stored: Mapping[str, tuple[int, ...]]  # the file's own selections by task name, where it has them
    paraphrases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # by name
    negation: str | None = None  # the hypothesis turned into its opposite
    synthetic: bool = False  # marks itself as made up, as ours in sample_data do
    # How it was made, and of what, where the file says so.
    construction: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_sufficient(self) -> bool:
        """Whether its gold is sufficient, not complete."""
        return self.construction.get("gold") == SUFFICIENT
