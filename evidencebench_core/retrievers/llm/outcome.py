"""The outcome of asking a model: a record of every call, and the outcome in a line that the run store can count by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from evidencebench_core.llm.answers import Answer, Message, request_of
from evidencebench_core.llm.parse import OutcomeKind

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.budget import Price
    from evidencebench_core.retrievers.base import Retrieval

OUTCOME_KINDS: Final[Mapping[str, str]] = {
    "selection": "a selection",
    "empty": "chose nothing",
    "unknown": "only indices not shown",
    "no_list": "no list found",
    "refusal": "refused",
    "cut_off": "cut off by the token limit",
    "failed": "call failed",
}
"""The kinds of outcome, with a name for people. Retrievers that ask no model have none of these."""

UNREADABLE: Final[tuple[OutcomeKind, ...]] = ("cut_off", "refusal", "no_list")
"""The kinds of answers that leave open what the model would have chosen; the one that says least first."""

# The words of a stored outcome after its kind, with the fields of `OutcomeCounts` that they are counted in.
_FLAGS: Final = {
    "over": "over", "some-unknown": "unknown_indices", "regenerated": "regenerated", "partly": "partly",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Outcomes of one task of a run, in numbers of instances."""

    kinds: Mapping[str, int] = field(
        default_factory=lambda: MappingProxyType({})
    )  # those that came, in order
    over: int = 0  # selections of more than the budget allows, so scored by expectation
    unknown_indices: int = 0  # an answer named indices that were not shown
    regenerated: int = 0  # the model was told to choose fewer
    partly: int = 0  # selections for which a part of the paper was lost to an unreadable answer

    @classmethod
    def of(cls, texts: Iterable[tuple[str, int]], failed: int = 0) -> OutcomeCounts:
        """From the texts of `outcome_text`, each with how often it is there, and the failures."""
        kinds, flags = Counter(failed=failed), Counter[str]()
        for text, number in texts:
            kind, *words = text.split()
            kinds[kind] += number
            flags.update({_FLAGS[word]: number for word in words if word in _FLAGS})
        names = dict.fromkeys((*OUTCOME_KINDS, *kinds))
        return cls(MappingProxyType({kind: kinds[kind] for kind in names if kinds[kind]}), **flags)

    def as_dict(self) -> dict[str, int]:
        """All counts, zeros too, JSON-able."""
        kinds = {kind: self.kinds.get(kind, 0) for kind in OUTCOME_KINDS}
        return kinds | {name: getattr(self, name) for name in _FLAGS.values()}

    def __str__(self) -> str:
        """``"290 a selection (4 over the budget), 2 refused, 1 call failed"``; empty if there is nothing."""
        parts = {kind: f"{number:,} {OUTCOME_KINDS.get(kind, kind)}" for kind, number in self.kinds.items()}
        if self.over and "selection" in parts:
            parts["selection"] += f" ({self.over:,} over the budget, scored by expectation)"
        further = {
            "with indices not shown": self.unknown_indices,
            "with a part of the paper lost": self.partly,
            "asked again for fewer": self.regenerated,
        }
        counts = [f"{number:,} {words}" for words, number in further.items() if number]
        return ", ".join((*parts.values(), *counts))


def least_informative(kinds: Iterable[OutcomeKind]) -> OutcomeKind:
    """The outcome of several answers none of which chose anything: the one that says least."""
    present = set(kinds)
    return next((kind for kind in (*UNREADABLE, "unknown") if kind in present), "empty")


def outcome_text(kind: str, **flags: bool) -> str:
    """The kind, then words for what else is to be counted: ``"selection over regenerated"``."""
    return " ".join((kind, *(word for word, name in _FLAGS.items() if flags.get(name))))


def outcome_of(retrieval: Retrieval) -> str:
    """The outcome, one of `OUTCOME_KINDS`; empty for a retriever that asks no model."""
    return retrieval.details.get("outcome", "").partition(" ")[0]


@dataclass(frozen=True, slots=True)
class CallRecord(Answer):
    """One question to the model and its `llm.Answer`."""

    text: str = ""
    step: str = ""  # "whole paper", "section 2 of 7", "final choice"
    prompt: str = ""  # name and version
    kind: str = ""  # of `OUTCOME_KINDS`
    picked: tuple[int, ...] = ()  # as the prompt counts them
    n_unknown: int = 0  # numbers that the prompt did not show
    problem: str = ""  # why the call failed
    cost: float | None = None  # dollars when the answer was first given, where price and tokens are known
    messages: tuple[Message, ...] = ()  # as sent; stored only where the store does not have them

    @classmethod
    def of(
        cls, answer: Answer, messages: tuple[Message, ...], price: Price | None, **more: Any
    ) -> CallRecord:
        """The record of an answer; without messages where the store has them."""
        cost = None
        if price is not None and answer.prompt_tokens is not None and answer.completion_tokens is not None:
            cost = price.of(answer.prompt_tokens, answer.completion_tokens, answer.batch)
        values = {item.name: getattr(answer, item.name) for item in fields(Answer)}
        return cls(**values, **more, cost=cost, messages=() if answer.key else messages)


_CALLS: Final = TypeAdapter(tuple[CallRecord, ...])


def calls_json(calls: Iterable[CallRecord]) -> str:
    """Calls as `calls_in` reads them; what is empty is left out."""
    return _CALLS.dump_json(tuple(calls), exclude_defaults=True).decode()


def calls_in(retrieval: Retrieval, store: Store | None = None) -> tuple[CallRecord, ...]:
    """The calls behind a retrieval, in order; without a store their ``messages`` may be empty."""
    calls = _CALLS.validate_json(retrieval.details.get("calls", "[]"))
    return calls if store is None else tuple(_with_messages(call, store) for call in calls)


def _with_messages(call: CallRecord, store: Store) -> CallRecord:
    body = None if call.messages else request_of(store, call.key)
    if body is None:
        return call
    return replace(call, messages=tuple(Message(**turn) for turn in body["messages"]))


def reasons_in(retrieval: Retrieval) -> dict[int, str]:
    """The model's reasons by sentence index; picks without a reason are left out."""
    reasons = json.loads(retrieval.details.get("reasoning", "[]"))
    return {index: reason for index, reason in zip(retrieval.selection, reasons, strict=False) if reason}
