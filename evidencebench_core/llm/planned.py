"""Conversations without a server: what one would cost, and its result where every answer is in the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from evidencebench_core.errors import LLMError
from evidencebench_core.llm.budget import FIRST_GUESS
from evidencebench_core.llm.conversation import Ask, Conversation
from evidencebench_core.llm.prices import estimated_prompt_tokens, estimated_tokens
from evidencebench_core.llm.request import Answer, ChatRequest, EmbeddingRequest, Reply

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Planned:
    """The calls still to be made. Tokens are estimates; answers in the store are ``cached`` and cost none.

    A cached answer is one to a chat, or the vector of one text.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Planned) -> Planned:
        return Planned(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def times(self, factor: float) -> Planned:
        """As much for another number of instances."""
        return Planned(
            round(self.calls * factor),
            round(self.cached * factor),
            round(self.prompt_tokens * factor),
            round(self.completion_tokens * factor),
        )


def planned(
    llm: LLM, conversation: Conversation[object], fresh: bool = False, seen: set[object] | None = None
) -> Planned:
    """The cost of a conversation; nothing is sent.

    What the store does not know is taken to be answered as rehearsed: with as much as may be chosen, so that a last
    step has as many candidates as there can be.

    Parameters
    ----------
    llm : LLM
    conversation : Conversation
    fresh : bool
        Count what is in the store as asked again.
    seen : set, optional
        What other conversations have counted; it is not counted again, and what is counted now is added.
    """
    seen = set() if seen is None else seen
    total = Planned()

    def answered(ask: Ask) -> Reply:
        nonlocal total
        request = ask.request
        if isinstance(request, EmbeddingRequest):
            new = [text for text in dict.fromkeys(request.texts) if (request.model, text) not in seen]
            seen.update((request.model, text) for text in new)
            asked = new if fresh else llm.unknown_texts(EmbeddingRequest(request.model, tuple(new)))
            total += Planned(bool(asked), len(new) - len(asked), sum(map(estimated_tokens, asked)))
            import numpy as np

            return np.zeros((len(request.texts), 1), dtype=np.float32)
        known, key = None if fresh else llm.known(request), llm.key(request)
        if key not in seen:
            seen.add(key)
            total += Planned(cached=1) if known else Planned(1, 0, *_tokens(request))
        return known or Answer(ask.rehearsal)

    result_of(conversation, answered)
    return total


def stored(llm: LLM, conversation: Conversation[_T]) -> _T | None:
    """The result of a conversation if every answer it needs is in the store, else ``None``; nothing is sent."""
    return result_of(conversation, lambda ask: llm.known(ask.request))


def result_of(conversation: Conversation[_T], reply: Callable[[Ask], Reply | LLMError | None]) -> _T | None:
    """The result of a conversation, every ask of a round replied to by a function; ``None`` once it has no reply.

    Raises
    ------
    LLMError
        One of the replies that the conversation does not handle.
    """
    try:
        asks = next(conversation)
        while True:
            replies = [one for ask in asks if (one := reply(ask)) is not None]
            if len(replies) < len(asks):
                return None
            error = next((one for one in replies if isinstance(one, LLMError)), None)
            if error is None:
                asks = conversation.send([one for one in replies if not isinstance(one, LLMError)])
            else:
                asks = conversation.throw(error)
    except StopIteration as end:
        result: _T = end.value
        return result
    finally:
        conversation.close()


def _tokens(request: ChatRequest) -> tuple[int, int]:
    return estimated_prompt_tokens(request.messages), min(FIRST_GUESS, request.max_tokens or FIRST_GUESS)
