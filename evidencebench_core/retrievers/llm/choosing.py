"""Choices of sentences by a model: prompts asked side by side, and the last one, asked again or put to a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError
from evidencebench_core.llm.conversation import Ask, Conversation
from evidencebench_core.llm.parse import OutcomeKind, ParsedAnswer, parsed
from evidencebench_core.llm.prices import Price
from evidencebench_core.llm.prompts import Prompt, prompt
from evidencebench_core.llm.request import Answer, ChatRequest, Message
from evidencebench_core.retrievers.llm.outcome import least_told
from evidencebench_core.retrievers.llm.records import OF_ANSWER, CallRecord

REGENERATE: Final = "regenerate"
AS_JSON: Final = "as-json"  # the prompt's last words where the answer is to be JSON


@dataclass(frozen=True, slots=True)
class Choice:
    """A prompt that shows numbered sentences.

    ``shown`` has the index in the paper of every number; ``budget`` is how many may be chosen.
    """

    step: str
    prompt: Prompt
    fields: Mapping[str, str | int]
    shown: Mapping[int, int]
    budget: int | None

    def messages(self) -> tuple[Message, ...]:
        """The prompt, filled."""
        return self.prompt.messages(budget=self.n_allowed, **self.fields)

    @property
    def n_allowed(self) -> int:
        """The budget, or all that is shown."""
        return len(self.shown) if self.budget is None else self.budget


@dataclass(frozen=True, slots=True)
class Chosen:
    """Sentences of the paper that a model chose; ``partly``: some answer that could have had more was lost."""

    kind: OutcomeKind
    picks: tuple[int, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    partly: bool = False


class Calls:
    """The calls of one query, and a record of each.

    ``request`` is what every call has but the messages; with ``as_json`` choices come as JSON from servers that
    enforce a schema; the final choice is asked ``samples`` times.
    """

    def __init__(
        self, request: ChatRequest, price: Price | None = None, as_json: bool = False, samples: int = 1
    ) -> None:
        self._request, self._price, self._as_json, self._samples = request, price, as_json, samples
        self.records: list[CallRecord] = []
        self.regenerated = False

    def text(self, step: str, asked: Prompt, rehearsal: str, **fields: str | int) -> Conversation[Answer]:
        """The answer to a prompt that is no choice of sentences; it is recorded without a kind."""
        request = replace(self._request, messages=asked.messages(**fields))
        (reply,) = yield [Ask(step, request, rehearsal)]
        answer = cast("Answer", reply)
        self.records.append(self._record(step, asked, request, answer))
        return answer

    def choices(self, choices: Sequence[Choice]) -> Conversation[list[Chosen]]:
        """One choice from each prompt, all asked at once."""
        asks = [self._ask(one, one.step, one.messages()) for one in choices]
        replies = (yield asks) if asks else []
        return [
            _in_paper(one, self._read(one, one.prompt, ask, reply))
            for one, ask, reply in zip(choices, asks, replies, strict=True)
        ]

    def final(self, choice: Choice) -> Conversation[Chosen]:
        """The choice that counts. Too many are asked for once more; of several samples the votes decide."""
        messages = choice.messages()
        if self._samples > 1:
            return (yield from self._vote(choice, messages))
        ask = self._ask(choice, choice.step, messages)
        (reply,) = yield [ask]
        first = self._read(choice, choice.prompt, ask, reply)
        if choice.budget is None or len(first.indices) <= choice.budget:
            return _in_paper(choice, first)
        self.regenerated = True
        again = prompt(REGENERATE)
        ask = self._ask(
            choice,
            f"{choice.step}, asked again for fewer",
            (
                *messages,
                Message("assistant", cast("Answer", reply).text),
                *again.messages(n_given=len(first.indices), budget=choice.budget),
            ),
        )
        try:
            (reply,) = yield [ask]
        except (BudgetReachedError, LLMCancelledError):
            raise  # the answer is yet to come: when the run goes on
        except LLMError as error:
            if error.stops_run:
                raise
            named = f"{again.name} {again.version}"
            self.records.append(CallRecord(ask.step, named, kind="failed", problem=str(error)))
            return _in_paper(choice, first)
        second = self._read(choice, again, ask, reply)
        if second.kind not in ("selection", "empty"):
            return _in_paper(choice, first)
        kept = {number: first.reasoning_by_index.get(number, "") for number in second.indices}
        reasons = {number: reason for number, reason in kept.items() if reason} | dict(
            second.reasoning_by_index
        )
        return _in_paper(choice, replace(second, reasoning_by_index=reasons))

    def _vote(self, choice: Choice, messages: tuple[Message, ...]) -> Conversation[Chosen]:
        """The sentences that most samples chose: as many as allowed, or those that more than half chose."""
        n = self._samples
        asks = [
            self._ask(choice, f"{choice.step}, sample {number + 1} of {n}", messages, number)
            for number in range(n)
        ]
        replies = yield asks
        samples = [
            _in_paper(choice, self._read(choice, choice.prompt, ask, reply))
            for ask, reply in zip(asks, replies, strict=True)
        ]
        votes = Counter(pick for one in samples for pick in one.picks)
        if not votes:
            return Chosen(least_told(one.kind for one in samples))
        places = Counter[int]()
        for one in samples:
            places.update({pick: place for place, pick in enumerate(one.picks)})
        order = sorted(votes, key=lambda pick: (-votes[pick], places[pick] / votes[pick], pick))
        voters = sum(bool(one.picks) for one in samples)
        picks = (
            [pick for pick in order if 2 * votes[pick] > voters]
            if choice.budget is None
            else order[: choice.budget]
        )
        reasons = {pick: reason for one in reversed(samples) for pick, reason in one.reasons.items()}
        return Chosen("selection", tuple(picks), {pick: reasons[pick] for pick in picks if pick in reasons})

    def _ask(self, choice: Choice, step: str, messages: tuple[Message, ...], sample: int = 0) -> Ask:
        request = replace(self._request, messages=messages)
        if sample:
            request = replace(request, seed=(request.seed or 0) + sample)
        if self._as_json and choice.shown:
            *before, last = messages
            words = f"{last.content}\n\n{prompt(AS_JSON).messages()[-1].content}"
            request = replace(
                request,
                messages=(*before, Message(last.role, words)),
                extra={**dict(request.extra), "response_format": _schema(choice)},
            )
        allowed = 1 if choice.budget is None else choice.budget
        return Ask(step, request, f"DECISION: {list(choice.shown)[:allowed]}")

    def _read(self, choice: Choice, asked: Prompt, ask: Ask, reply: Any) -> ParsedAnswer:
        """The choice in an answer, which is recorded."""
        answer = cast("Answer", reply)
        said = parsed(
            answer.text,
            frozenset(choice.shown),
            refusal=answer.refusal,
            finish_reason=answer.finish_reason or None,
            thoughts=answer.reasoning,
        )
        call = self._record(ask.step, asked, cast("ChatRequest", ask.request), answer)
        self.records.append(replace(call, kind=said.kind, picked=said.indices, n_unknown=said.n_unknown))
        return said

    def _record(self, step: str, asked: Prompt, request: ChatRequest, answer: Answer) -> CallRecord:
        cost = None
        if self._price and answer.prompt_tokens is not None and answer.completion_tokens is not None:
            cost = self._price.of(answer.prompt_tokens, answer.completion_tokens)
        return CallRecord(
            step,
            f"{asked.name} {asked.version}",
            thinking=answer.reasoning,
            refusal=answer.refusal or "",
            cost=cost,
            messages=() if answer.key else request.messages,
            **{name: getattr(answer, name) for name in OF_ANSWER},
        )


def _in_paper(choice: Choice, said: ParsedAnswer) -> Chosen:
    """The numbers of an answer as indices of the paper."""
    return Chosen(
        said.kind,
        tuple(choice.shown[number] for number in said.indices),
        {choice.shown[number]: reason for number, reason in said.reasoning_by_index.items()},
    )


def _schema(choice: Choice) -> dict[str, Any]:
    """The response format of a choice: reasons, then at most as many numbers as are allowed, of those shown."""
    number = {"type": "integer", "minimum": min(choice.shown), "maximum": max(choice.shown)}
    reason = _object({"index": number, "reason": {"type": "string"}})
    indices: dict[str, Any] = {"type": "array", "items": number}
    if choice.budget is not None:
        indices["maxItems"] = choice.budget
    schema = _object({"reasons": {"type": "array", "items": reason}, "indices": indices})
    return {"type": "json_schema", "json_schema": {"name": "selection", "strict": True, "schema": schema}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
