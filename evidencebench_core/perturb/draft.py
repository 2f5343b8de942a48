"""One wording that a model wrote, as it is kept until somebody has decided on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from evidencebench_core.perturb.made_by import MadeBy

__all__ = ["DRAFT_STATES", "SELECT_DRAFTS", "Draft", "DraftState", "draft_of"]

DraftState = Literal["waiting", "refused", "accepted", "rejected"]
DRAFT_STATES: Final[tuple[DraftState, ...]] = get_args(DraftState)
"""Waiting for a reader; refused by our checks (a reader may still take it); accepted; rejected."""

SELECT_DRAFTS: Final = (
    "SELECT d.id, d.instance_id, d.name, b.hypothesis, d.text, d.problem, d.model, d.prompt, d.made_at,"
    " d.state, d.edited, d.reviewer, d.reviewed_at"
    " FROM hypothesis_drafts AS d"
    " JOIN instances AS i ON i.dataset_id = d.dataset_id AND i.instance_id = d.instance_id"
    " JOIN bodies AS b ON b.instance = i.id"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model wrote for an instance.

    Attributes
    ----------
    id : int
        Of the draft, in its store.
    instance_id, name : str
        ``name`` is that of the wording it becomes when it is accepted: ``"negation"``, ``"paraphrase:gpt-x"``.
    original : str
        The instance's own hypothesis.
    text : str
        The model's words; empty where no wording could be read from its answer.
    problem : str
        What our checks say against it; empty if nothing.
    state : {"waiting", "refused", "accepted", "rejected"}
    edited : str or None
        What the reviewer accepted instead of ``text``.
    made_by : MadeBy
    """

    id: int
    instance_id: str
    name: str
    original: str
    text: str
    problem: str
    state: DraftState
    edited: str | None
    made_by: MadeBy

    @property
    def wording(self) -> str:
        """What is or would be accepted: the reviewer's words, else the model's."""
        return self.text if self.edited is None else self.edited

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "id": self.id,
            "instance": self.instance_id,
            "name": self.name,
            "state": self.state,
            "original": self.original,
            "text": self.text,
            "edited": self.edited,
            "problem": self.problem,
            "made_by": self.made_by.as_dict(),
        }


def draft_of(row: Sequence[Any]) -> Draft:
    """From a row of `SELECT_DRAFTS`."""
    number, instance_id, name, original, text, problem, model, prompt, made_at = row[:9]
    state, edited, reviewer, reviewed_at = row[9:]
    made_by = MadeBy(model, prompt, made_at, reviewer, reviewed_at, edited is not None)
    return Draft(number, instance_id, name, original, text, problem, state, edited, made_by)
