"""Counts of what went into an export and of what could not: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Final

from evidencebench_core.export.answers import Answer
from evidencebench_core.tasks import Task
from evidencebench_core.tasks.selection import validated_selection

_NAMED: Final = 5


@dataclass(slots=True)
class Written:
    """The content of an export; it grows while the export is written.

    Attributes
    ----------
    n_instances : int
        Instances with an answer, empty selections included.
    n_rows : int
        Lines or records written, headers not counted.
    unanswered : dict of str to str
        Instance id to the reason why there is no answer.
    skipped : dict of str to str
        Instance id to the reason why the task asks nothing of it.
    empty : list of str
        Instances answered with no sentence at all.
    over_budget : list of str
        Instances answered with more sentences than the task allows.
    notes : list of str
        What a reader of the file should know besides, a sentence each.
    """

    n_instances: int = 0
    n_rows: int = 0
    unanswered: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    over_budget: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, answer: Answer, task: Task) -> tuple[int, ...] | None:
        """Count an answer; its selection, checked against the paper, or ``None`` without an answer.

        Raises
        ------
        SelectionError
            If it picks a sentence that the paper does not have.
        """
        name, evidence = answer.instance_id, answer.evidence
        if answer.retrieval is None:
            if evidence.focused(task.focus):
                self.unanswered[name] = answer.reason
            else:
                self.skipped[name] = nothing_asked(task)
            return None
        picks = validated_selection(answer.retrieval.selection, evidence.n_sentences, name)
        budget = task.budget_for(evidence)
        self.n_instances += 1
        if not picks:
            self.empty.append(name)
        if budget is not None and len(picks) > budget:
            self.over_budget.append(name)
        return picks

    def lines(self) -> tuple[str, ...]:
        """All there is to say, a sentence each; instances are named, at most five of a kind."""
        kinds: tuple[tuple[Collection[str], str], ...] = (
            (self.unanswered, "without an answer"),
            (self.skipped, "skipped, nothing to cover on this task"),
            (self.empty, "answered with no sentence"),
            (self.over_budget, "answered with more sentences than the budget"),
        )
        return (*(_line(ids, what) for ids, what in kinds if ids), *self.notes)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


def nothing_asked(task: Task) -> str:
    """Why a task skips an instance without aspects of its focus, as `tasks.score` words it."""
    return "it has no result aspects" if task.focus == "results" else "it has no aspects"


def _line(ids: Collection[str], what: str) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return f"{len(ids):,} instance{'s' * (len(ids) != 1)} {what}: {', '.join(islice(ids, _NAMED))}{more}."
