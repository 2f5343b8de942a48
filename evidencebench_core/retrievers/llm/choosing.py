"""Choices of sentences by a model: prompts asked side by side, and the last one, asked again or put to a vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError
from evidencebench_core.llm import Answer, Ask, ChatRequest, Conversation, Message, Price, Prompt, prompt
from evidencebench_core.llm.parse import ParsedAnswer, read_answer
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.retrievers.llm.outcome import CallRecord, least_informative

if TYPE_CHECKING:
    from evidencebench_core.retrievers.base import Query

REGENERATE: Final = "regenerate"
AS_JSON: Final = "as-json"  # the last words of a prompt whose answer is to be JSON


@dataclass(frozen=True, slots=True)
class Choice:
    """A prompt that shows numbered sentences: the index in the paper of every number, and how many may be chosen."""

    step: str
    prompt: Prompt
    messages: tuple[Message, ...]
    shown: Mapping[int, int]
    budget: int | None


@dataclass
class Work:
    """One query, and a record of every call for it.

    ``request`` is what every call has but the messages; with ``as_json`` choices come as JSON from servers that
    enforce a schema; the final choice is asked ``samples`` times.
    """

    query: Query
    request: ChatRequest
    price: Price | None = None
    examples: str = ""
    as_json: bool = False
    samples: int = 1
    calls: list[CallRecord] = field(default_factory=list)
    regenerated: bool = False  # told that it had chosen too many
    partly: bool = False  # an answer that could have had more was lost

    def choice(
        self, step: str, asked: Prompt, part: Sequence[int], *, first: int, budget: int | None, **fields: str
    ) -> Choice:
        """A choice from a part of the paper, numbered from ``first``."""
        messages = asked.messages(
            hypothesis=self.query.hypothesis,
            sentences=numbered([self.query.sentences[index] for index in part], first),
            examples=self.examples,
            budget=len(part) if budget is None else budget,
            **fields,
        )
        return Choice(step, asked, messages, dict(enumerate(part, start=first)), budget)

    def text(self, step: str, asked: Prompt, rehearsal: str, **fields: str | int) -> Conversation[Answer]:
        """The answer to a prompt that is no choice of sentences; it is recorded without a kind."""
        request = replace(self.request, messages=asked.messages(**fields))
        (answer,) = yield [Ask(step, request, rehearsal)]
        self._record(step, asked, request, answer)
        return cast("Answer", answer)

    def choices(self, choices: Sequence[Choice], sampled: bool = False) -> Conversation[list[ParsedAnswer]]:
        """One choice from each prompt, all asked at once; with ``sampled`` the n-th has the n-th seed."""
        asks = [self._ask(one, n if sampled else 0) for n, one in enumerate(choices)]
        answers = (yield asks) if asks else []
        return [self._chosen(*one) for one in zip(choices, asks, answers, strict=True)]

    def final(self, choice: Choice) -> Conversation[ParsedAnswer]:
        """The choice that counts. Too many are asked for once more; of several samples the votes decide."""
        if self.samples > 1:
            return (yield from self._vote(choice))
        (first,) = yield from self.choices([choice])
        if choice.budget is None or len(first.indices) <= choice.budget:
            return first
        self.regenerated = True
        again, said = prompt(REGENERATE), Message("assistant", self.calls[-1].text)
        told = again.messages(n_given=len(first.indices), budget=choice.budget)
        step, messages = f"{choice.step}, asked again for fewer", (*choice.messages, said, *told)
        try:
            (second,) = yield from self.choices([replace(choice, step=step, prompt=again, messages=messages)])
        except LLMError as error:  # within the caps, and not stopped: else the answer is yet to come
            if error.stops_run or isinstance(error, (BudgetReachedError, LLMCancelledError)):
                raise
            self.calls.append(CallRecord(step=step, prompt=str(again), kind="failed", problem=str(error)))
            return first
        if second.kind not in ("selection", "empty"):
            return first
        earlier = {pick: reason for pick, reason in first.reasons.items() if pick in second.indices}
        return replace(second, reasons=earlier | dict(second.reasons))

    def _vote(self, choice: Choice) -> Conversation[ParsedAnswer]:
        """The sentences that most samples chose: as many as allowed, or those that more than half chose."""
        steps = [f"{choice.step}, sample {one} of {self.samples}" for one in range(1, self.samples + 1)]
        samples = yield from self.choices([replace(choice, step=step) for step in steps], sampled=True)
        votes, places = Counter[int](), Counter[int]()
        for one in samples:
            votes.update(one.indices)
            places.update({pick: place for place, pick in enumerate(one.indices)})
        if not votes:
            return ParsedAnswer(least_informative(one.kind for one in samples))
        picks = sorted(votes, key=lambda pick: (-votes[pick], places[pick] / votes[pick], pick))
        if choice.budget is None:
            voters = sum(bool(one.indices) for one in samples)
            picks = [pick for pick in picks if 2 * votes[pick] > voters]
        reasons = {pick: reason for one in reversed(samples) for pick, reason in one.reasons.items()}
        return ParsedAnswer("selection", tuple(picks[: choice.budget]), 0, reasons)

    def _ask(self, choice: Choice, sample: int) -> Ask:
        *before, last = choice.messages
        extra = dict(self.request.extra)
        if self.as_json and choice.shown:
            last = replace(last, content=f"{last.content}\n\n{prompt(AS_JSON).messages()[-1].content}")
            extra["response_format"] = _schema(choice)
        seed = (self.request.seed or 0) + sample if sample else self.request.seed
        request = replace(self.request, messages=(*before, last), seed=seed, extra=extra)
        return Ask(choice.step, request, f"DECISION: {list(choice.shown)[: choice.budget or 1]}")

    def _chosen(self, choice: Choice, ask: Ask, answer: Answer) -> ParsedAnswer:
        """The choice in an answer, which is recorded."""
        read = read_answer(
            answer.text,
            frozenset(choice.shown),
            refusal=answer.refusal,
            finish_reason=answer.finish_reason,
            thoughts=answer.reasoning,
        )
        found: Any = {"kind": read.kind, "picked": read.indices, "n_unknown": read.n_unknown}
        self._record(choice.step, choice.prompt, cast("ChatRequest", ask.request), answer, **found)
        reasons = {choice.shown[number]: reason for number, reason in read.reasons.items()}
        picks = tuple(choice.shown[number] for number in read.indices)
        return replace(read, indices=picks, reasons=reasons)

    def _record(self, step: str, asked: Prompt, request: ChatRequest, answer: Answer, **found: Any) -> None:
        cost = None
        if self.price and answer.prompt_tokens is not None and answer.completion_tokens is not None:
            cost = self.price.of(answer.prompt_tokens, answer.completion_tokens, answer.batch)
        values = {one.name: getattr(answer, one.name) for one in fields(Answer)}
        messages = () if answer.key else request.messages
        self.calls.append(
            CallRecord(**values, step=step, prompt=str(asked), cost=cost, messages=messages, **found)
        )


def _schema(choice: Choice) -> dict[str, Any]:
    """The response format of a choice: reasons, then at most as many numbers as are allowed, of those shown."""

    def record(**properties: Any) -> dict[str, Any]:
        required = {"required": list(properties), "additionalProperties": False}
        return {"type": "object", "properties": properties} | required

    number = {"type": "integer", "minimum": min(choice.shown), "maximum": max(choice.shown)}
    most = {} if choice.budget is None else {"maxItems": choice.budget}
    schema = record(
        reasons={"type": "array", "items": record(index=number, reason={"type": "string"})},
        indices={"type": "array", "items": number} | most,
    )
    return {"type": "json_schema", "json_schema": {"name": "selection", "strict": True, "schema": schema}}
