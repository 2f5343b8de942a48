"""The calls made for one query: each is parsed, and asked once more where it chose too many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError
from evidencebench_core.llm.parse import OutcomeKind, ParsedAnswer, parsed
from evidencebench_core.llm.prices import price_of
from evidencebench_core.llm.prompts import Prompt, prompt
from evidencebench_core.llm.request import Answer, ChatRequest, Message
from evidencebench_core.retrievers.llm.records import CallRecord

if TYPE_CHECKING:
    from evidencebench_core.retrievers.llm.session import Session


REGENERATE = "regenerate"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Options sent with every prompt; see `llm.ChatRequest`."""

    model: str
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = None
    reasoning_effort: str | None = None

    def request(self, messages: tuple[Message, ...]) -> ChatRequest:
        """The messages as a request to this model."""
        extra = () if self.reasoning_effort is None else (("reasoning_effort", self.reasoning_effort),)
        return ChatRequest(self.model, messages, self.temperature, self.seed, self.max_tokens, extra)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model's choice from the sentences shown."""

    kind: OutcomeKind
    picks: tuple[int, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    partly: bool = False


class Conversation:
    """Asks for one query and keeps a record of every call."""

    def __init__(self, session: Session, sampling: Sampling) -> None:
        self._session, self._sampling = session, sampling
        self.calls: list[CallRecord] = []
        self.regenerated = False

    def answer(self, step: str, asked: Prompt, **fields: str | int) -> Answer:
        """The raw answer to a prompt that is no choice of sentences; it is recorded without a kind."""
        answer, call = self._asked(step, asked, asked.messages(**fields))
        self.calls.append(call)
        return answer

    def choice(
        self, step: str, asked: Prompt, shown: Mapping[int, int], budget: int | None, **fields: str | int
    ) -> Chosen:
        """The model's choice."""
        messages = asked.messages(budget=len(shown) if budget is None else budget, **fields)
        answer, said = self._chosen(step, asked, messages, shown)
        if budget is not None and len(said.indices) > budget:
            said = self._fewer(step, messages, answer, said, shown, budget)
        return Chosen(
            said.kind,
            tuple(shown[number] for number in said.indices),
            {shown[number]: reason for number, reason in said.reasoning_by_index.items()},
        )

    def _fewer(
        self,
        step: str,
        messages: tuple[Message, ...],
        answer: Answer,
        first: ParsedAnswer,
        shown: Mapping[int, int],
        budget: int,
    ) -> ParsedAnswer:
        again = prompt(REGENERATE)
        reminder = again.messages(n_given=len(first.indices), budget=budget)
        self.regenerated = True
        step = f"{step}, asked again for fewer"
        try:
            _, second = self._chosen(
                step, again, (*messages, Message("assistant", answer.text), *reminder), shown
            )
        except (BudgetReachedError, LLMCancelledError):
            raise  # the answer is yet to come: when the run goes on
        except LLMError as error:
            if error.stops_run:
                raise
            self.calls.append(
                CallRecord(step, f"{again.name} {again.version}", kind="failed", problem=str(error))
            )
            return first
        if second.kind not in ("selection", "empty"):
            return first
        return replace(second, reasoning_by_index={**_of(first, second), **second.reasoning_by_index})

    def _chosen(
        self, step: str, asked: Prompt, messages: tuple[Message, ...], shown: Mapping[int, int]
    ) -> tuple[Answer, ParsedAnswer]:
        answer, call = self._asked(step, asked, messages)
        said = parsed(
            answer.text,
            frozenset(shown),
            refusal=answer.refusal,
            finish_reason=answer.finish_reason or None,
            thoughts=answer.reasoning,
        )
        self.calls.append(replace(call, kind=said.kind, picked=said.indices, n_unknown=said.n_unknown))
        return answer, said

    def _asked(self, step: str, asked: Prompt, messages: tuple[Message, ...]) -> tuple[Answer, CallRecord]:
        request = self._sampling.request(messages)
        answer = self._session.chat(step, request)
        call = CallRecord(
            step=step,
            prompt=f"{asked.name} {asked.version}",
            key=answer.key,
            text=answer.text,
            thinking=answer.reasoning,
            finish_reason=answer.finish_reason,
            refusal=answer.refusal or "",
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            seconds=answer.seconds,
            cached=answer.cached,
            cost=self._cost(answer),
            left_out=answer.left_out,
            messages=messages if self._session.client.answers is None else (),
        )
        return answer, call

    def _cost(self, answer: Answer) -> float | None:
        if answer.prompt_tokens is None or answer.completion_tokens is None:
            return None
        price = price_of(self._sampling.model, self._session.prices)
        return None if price is None else price.of(answer.prompt_tokens, answer.completion_tokens)


def _of(first: ParsedAnswer, second: ParsedAnswer) -> dict[int, str]:
    """The first answer's reasons for the sentences that the second still has."""
    return {number: reason for number, reason in first.reasoning_by_index.items() if number in second.indices}
