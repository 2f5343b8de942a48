"""What went into an export and what could not: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from evidencebench_core.export.answers import Answer
    from evidencebench_core.tasks import Task

__all__ = ["Tally", "Written", "nothing_asked"]

_NAMED: Final = 5


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Written:
    """What an export holds.

    Attributes
    ----------
    n_instances : int
        Instances with an answer, empty selections included.
    n_rows : int
        Lines or records written, headers not counted.
    unanswered : mapping of str to str
        Instance id to the reason why there is no answer.
    skipped : mapping of str to str
        Instance id to the reason why the task asks nothing of it.
    empty : tuple of str
        Instances answered with no sentence at all.
    over_budget : tuple of str
        Instances answered with more sentences than the task allows.
    notes : tuple of str
        What a reader of the file should know besides, a sentence each.
    """

    n_instances: int
    n_rows: int
    unanswered: Mapping[str, str] = field(default_factory=_nothing)
    skipped: Mapping[str, str] = field(default_factory=_nothing)
    empty: tuple[str, ...] = ()
    over_budget: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """All there is to say, a sentence each; instances are named, at most five of a kind."""
        said = []
        for ids, what in (
            (tuple(self.unanswered), "without an answer"),
            (tuple(self.skipped), "skipped, nothing to cover on this task"),
            (self.empty, "answered with no sentence"),
            (self.over_budget, "answered with more sentences than the budget"),
        ):
            if ids:
                plural = "" if len(ids) == 1 else "s"
                said.append(f"{len(ids):,} instance{plural} {what}: {_named(ids)}.")
        return (*said, *self.notes)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "n_instances": self.n_instances,
            "n_rows": self.n_rows,
            "unanswered": dict(self.unanswered),
            "skipped": dict(self.skipped),
            "empty": list(self.empty),
            "over_budget": list(self.over_budget),
            "notes": list(self.notes),
        }


class Tally:
    """Counts answers while they are written."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.n_instances = self.n_rows = self.longest = 0
        self.unanswered: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self.empty: list[str] = []
        self.over_budget: list[str] = []

    def add(self, answer: Answer) -> tuple[int, ...] | None:
        """Count an answer.

        Returns
        -------
        tuple of int or None
            Its selection, checked against the paper, or ``None`` without an answer.

        Raises
        ------
        SelectionError
            If it picks a sentence that the paper does not have.
        """
        from evidencebench_core.tasks.selection import validated_selection

        name, evidence = answer.instance_id, answer.evidence
        if answer.retrieval is None:
            if evidence.focused(self.task.focus):
                self.unanswered[name] = answer.reason
            else:
                self.skipped[name] = nothing_asked(self.task)
            return None
        picks = validated_selection(answer.retrieval.selection, evidence.n_sentences, name)
        budget = self.task.budget_for(evidence)
        self.n_instances += 1
        self.longest = max(self.longest, len(picks))
        if not picks:
            self.empty.append(name)
        if budget is not None and len(picks) > budget:
            self.over_budget.append(name)
        return picks

    def written(self, notes: Sequence[str] = ()) -> Written:
        """What has been counted."""
        return Written(
            self.n_instances,
            self.n_rows,
            MappingProxyType(self.unanswered),
            MappingProxyType(self.skipped),
            tuple(self.empty),
            tuple(self.over_budget),
            tuple(notes),
        )


def nothing_asked(task: Task) -> str:
    """Why a task skips an instance without aspects of its focus, as `tasks.score` words it."""
    return "it has no result aspects" if task.focus == "results" else "it has no aspects"


def _named(ids: Sequence[str]) -> str:
    more = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
