"""The record of every call to a model, and how a reader gets it back from a stored retrieval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.llm.request import Message, json_bytes

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers.base import Retrieval


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One question to the model and what came back.

    What is not told here is as in `llm.Answer`.

    Attributes
    ----------
    step : str
        What the call was for: ``"whole paper"``, ``"section 2 of 7"``, ``"final choice"``.
    prompt : str
        Name and version of the prompt file.
    thinking : str
        What a thinking model thought, where the server sends it apart.
    kind : str
        One of `OUTCOME_KINDS`; ``"failed"``: there was no answer, and ``problem`` says why.
    picked : tuple of int
        The chosen numbers as the prompt counts them.
    n_unknown : int
        Numbers in the list that the prompt did not show.
    cost : float or None
        Dollars when the answer was first given; ``None`` where price or tokens are not known.
    messages : tuple of Message
        The prompt as sent. Stored only where the store does not have it under the key.
    """

    step: str
    prompt: str
    key: str = ""
    text: str = ""
    thinking: str = ""
    kind: str = ""
    picked: tuple[int, ...] = ()
    n_unknown: int = 0
    finish_reason: str = ""
    refusal: str = ""
    problem: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cached: bool = False
    cost: float | None = None
    left_out: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    model: str = ""
    fingerprint: str = ""
    id: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


OF_ANSWER: Final = (
    *("key", "text", "finish_reason", "prompt_tokens", "completion_tokens", "seconds", "cached", "left_out"),
    *("model", "fingerprint", "id", "usage"),
)
"""Fields that are the answer's own."""
_FIELDS = tuple(one.name for one in fields(CallRecord))


def calls_json(calls: tuple[CallRecord, ...]) -> str:
    """Calls as `calls_in` reads them; what is empty is left out."""
    return json_bytes([_document(call) for call in calls]).decode()


def calls_in(retrieval: Retrieval, store: Store | None = None) -> tuple[CallRecord, ...]:
    """The calls behind a retrieval, in the order in which they were made; none if it asked no model.

    Parameters
    ----------
    retrieval : Retrieval
    store : Store, optional
        Where the prompts are; without it ``messages`` may be empty.
    """
    calls = tuple(_call(one) for one in json.loads(retrieval.details.get("calls", "[]")))
    if store is None:
        return calls
    from evidencebench_core.llm.answers import AnswerCache

    answers = AnswerCache(store)
    return tuple(
        call if call.messages else replace(call, messages=_messages_of(answers.request(call.key)))
        for call in calls
    )


def reasons_json(selection: tuple[int, ...], reasons: Mapping[int, str]) -> str:
    """The model's reasons in the order of the selection: that survives another numbering of the paper."""
    return json_bytes([reasons.get(index, "") for index in selection]).decode()


def reasons_in(retrieval: Retrieval) -> dict[int, str]:
    """The model's reasons by sentence index; picks without a reason are left out."""
    reasons = json.loads(retrieval.details.get("reasoning", "[]"))
    return {index: reason for index, reason in zip(retrieval.selection, reasons, strict=False) if reason}


def outcome_of(retrieval: Retrieval) -> str:
    """The outcome, one of `OUTCOME_KINDS`; empty for a retriever that asks no model."""
    return retrieval.details.get("outcome", "").partition(" ")[0]


def _document(call: CallRecord) -> dict[str, Any]:
    values = {name: getattr(call, name) for name in _FIELDS}
    document = {name: value for name, value in values.items() if value not in (None, "", (), {})}
    if call.messages:
        document["messages"] = [{"role": one.role, "content": one.content} for one in call.messages]
    return document


def _call(values: dict[str, Any]) -> CallRecord:
    messages = tuple(Message(**one) for one in values.pop("messages", ()))
    picked, left_out = values.pop("picked", ()), values.pop("left_out", ())
    return CallRecord(**values, picked=tuple(picked), left_out=tuple(left_out), messages=messages)


def _messages_of(body: Any) -> tuple[Message, ...]:
    return tuple(Message(one["role"], one["content"]) for one in (body or {}).get("messages", ()))
