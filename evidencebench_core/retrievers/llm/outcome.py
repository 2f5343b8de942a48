"""The outcome of asking a model, in one line of text that the run store can count by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from evidencebench_core.llm.parse import OutcomeKind

OUTCOME_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "selection": "a selection",
        "empty": "chose nothing",
        "unknown": "only indices not shown",
        "no_list": "no list found",
        "refusal": "refused",
        "cut_off": "cut off by the token limit",
        "failed": "call failed",
    }
)
"""The kinds of outcome, with a name for people. Retrievers that ask no model have none of these."""

OVER: Final = "over"
SOME_UNKNOWN: Final = "some-unknown"
REGENERATED: Final = "regenerated"
PARTLY: Final = "partly"

LOST: Final[tuple[OutcomeKind, ...]] = ("cut_off", "refusal", "no_list")
"""The kinds of answers that leave open what the model would have chosen; the one that says least first."""

_WORST_FIRST: Final[tuple[OutcomeKind, ...]] = (*LOST, "unknown")


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Outcomes of one task of a run, in numbers of instances.

    Attributes
    ----------
    kinds : mapping of str to int
        By `OUTCOME_KINDS`, in that order; those that never came are left out. They add up to the
        instances that were tried.
    over : int
        Of the selections: more than the budget allows, so scored by expectation.
    unknown_indices : int
        Instances in which an answer named indices that were not shown, whatever else it named.
    regenerated : int
        Instances in which a model was told that it had chosen too many.
    partly : int
        Of the selections: a part of the paper, or a point that was searched for, was lost to an answer
        without a list, a refusal or the token limit.
    """

    kinds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    over: int = 0
    unknown_indices: int = 0
    regenerated: int = 0
    partly: int = 0

    @classmethod
    def of(cls, counted: Iterable[tuple[str, int]], failed: int = 0) -> OutcomeCounts:
        """From the texts of `outcome_text`, each with how often it is there, and the failures."""
        kinds = dict.fromkeys(OUTCOME_KINDS, 0)
        flags = dict.fromkeys((OVER, SOME_UNKNOWN, REGENERATED, PARTLY), 0)
        for text, number in counted:
            kind, *more = text.split()
            kinds[kind] = kinds.get(kind, 0) + number
            for flag in more:
                flags[flag] = flags.get(flag, 0) + number
        kinds["failed"] += failed
        there = MappingProxyType({kind: number for kind, number in kinds.items() if number})
        return cls(there, flags[OVER], flags[SOME_UNKNOWN], flags[REGENERATED], flags[PARTLY])

    def as_dict(self) -> dict[str, int]:
        """All counts, zeros too, JSON-able."""
        kinds = {kind: self.kinds.get(kind, 0) for kind in OUTCOME_KINDS}
        return kinds | {
            "over": self.over,
            "unknown_indices": self.unknown_indices,
            "regenerated": self.regenerated,
            "partly": self.partly,
        }

    def __str__(self) -> str:
        """``"290 a selection (4 over the budget), 2 refused, 1 call failed"``; empty if there is nothing."""
        parts = [f"{number:,} {OUTCOME_KINDS.get(kind, kind)}" for kind, number in self.kinds.items()]
        if self.over and self.kinds.get("selection"):
            over = f"{self.over:,} over the budget, scored by expectation"
            parts = [
                f"{part} ({over})" if kind == "selection" else part
                for kind, part in zip(self.kinds, parts, strict=True)
            ]
        if self.unknown_indices:
            parts.append(f"{self.unknown_indices:,} with indices not shown")
        if self.partly:
            parts.append(f"{self.partly:,} with a part of the paper lost")
        if self.regenerated:
            parts.append(f"{self.regenerated:,} asked again for fewer")
        return ", ".join(parts)


def least_informative(kinds: Iterable[OutcomeKind]) -> OutcomeKind:
    """The outcome of several answers none of which chose anything: the one that says least."""
    there = set(kinds)
    return next((kind for kind in _WORST_FIRST if kind in there), "empty")


def outcome_text(
    kind: str, *, over: bool, some_unknown: bool, regenerated: bool, partly: bool = False
) -> str:
    """The kind, then words for what else is to be counted: ``"selection over regenerated"``."""
    flags = ((OVER, over), (SOME_UNKNOWN, some_unknown), (REGENERATED, regenerated), (PARTLY, partly))
    return " ".join((kind, *(flag for flag, is_so in flags if is_so)))
