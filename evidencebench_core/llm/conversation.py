"""Conversations as generators, driven through `LLM.chat`: for callers that are not async functions yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from evidencebench_core.llm import driving
from evidencebench_core.llm.client import LLM
from evidencebench_core.llm.driving import Cost, Work
from evidencebench_core.llm.request import Message, chat_body

_K = TypeVar("_K")
_T = TypeVar("_T")
Planned = Cost
Reply: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class ChatRequest:
    model: str
    messages: tuple[Message, ...]
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    may_be_empty: bool = False

    def body(self) -> dict[str, Any]:
        return chat_body(self.messages, {"model": self.model, **_parameters(self)})


@dataclass(frozen=True, slots=True)
class Ask:
    step: str
    request: ChatRequest
    rehearsal: str = ""


Conversation = Generator[Sequence[Ask], Sequence[Reply], _T]


def _parameters(request: ChatRequest) -> dict[str, Any]:
    return {"temperature": request.temperature, "max_tokens": request.max_tokens, **request.extra}


def converse(conversation: Any) -> Work[Any]:
    """The work of a conversation."""
    if callable(conversation):
        work_of_it: Work[Any] = conversation
        return work_of_it

    async def work(llm: LLM) -> Any:
        try:
            asks = next(conversation)
            while True:
                replies = await asyncio.gather(
                    *(
                        llm.chat(
                            ask.request.messages,
                            model=ask.request.model,
                            step=ask.step,
                            rehearsal=ask.rehearsal,
                            allow_empty=ask.request.may_be_empty,
                            **_parameters(ask.request),
                        )
                        for ask in asks
                    ),
                    return_exceptions=True,
                )
                errors = [reply for reply in replies if isinstance(reply, BaseException)]
                if errors:
                    worst = min(errors, key=lambda error: not getattr(error, "stops_run", True))
                    asks = conversation.throw(worst)
                else:
                    asks = conversation.send(replies)
        except StopIteration as end:
            return end.value

    return work


def answer_of(llm: LLM, conversation: Any, **how: Any) -> Any:
    llm.fresh = how.pop("fresh", llm.fresh)
    how.pop("on_step", None)
    return driving.answer_of(llm, converse(conversation), **how)


def results(
    llm: LLM, conversations: Iterable[tuple[_K, Any]], *, fresh: bool = False, **how: Any
) -> Iterator[driving.Results[_K, Any]]:
    llm.fresh = fresh
    return driving.results(llm, ((key, converse(one)) for key, one in conversations), **how)


def planned(llm: LLM, conversation: Any, fresh: bool = False, seen: object = None) -> Planned:
    llm.fresh = fresh
    return driving.rehearse(llm, converse(conversation))[1]


def stored(llm: LLM, conversation: Any) -> Any:
    (result,), _ = driving.rehearse(llm, converse(conversation))
    return result


OnStep: TypeAlias = Callable[[str, str | None], None]


def result_of(conversation: Conversation[_T], reply: Callable[[Ask], Reply | None]) -> _T | None:
    """The result of a conversation, every ask replied to by a function; ``None`` once it has no reply."""
    replies: list[Reply] | None = None
    while replies is None or not any(one is None for one in replies):
        try:
            asks = next(conversation) if replies is None else conversation.send(replies)
        except StopIteration as end:
            result: _T = end.value
            return result
        replies = [reply(ask) for ask in asks]
    return None
