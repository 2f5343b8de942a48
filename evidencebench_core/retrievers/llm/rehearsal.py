"""How many calls and tokens a query takes, found out by answering it without a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evidencebench_core.llm.prices import estimated_prompt_tokens, estimated_tokens
from evidencebench_core.llm.request import Answer, ChatRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.llm.answers import AnswerCache
    from evidencebench_core.retrievers.llm.session import Client


ANSWER_TOKENS: Final = 800  # tokens that an answer is taken to have, as `llm.Budget` does at first
_BATCH: Final = 64  # texts an embedding call


@dataclass(frozen=True, slots=True)
class Planned:
    """The calls still to be made. Tokens are estimates; answers in the store are ``cached`` and cost none.

    An answer is one to a chat, or the vector of one text; a call asks for up to 64 vectors.
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


class Rehearsal:
    """A client that sends nothing: it answers from the store where it can, else that it takes all it may.

    So nothing is asked again for fewer, and a last step has as many candidates as there can be.
    """

    def __init__(self, real: Client, fresh: bool) -> None:
        self._real, self._fresh = real, fresh
        self.answers: AnswerCache | None = real.answers
        self.budget: int | None = None  # of the query in hand
        self.n_aspects = 0
        self.planned = Planned()
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def key(self, request: ChatRequest) -> str:
        return self._real.key(request)

    def chat(
        self, request: ChatRequest, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Answer:
        """The known answer, or one that chooses the first sentences shown."""
        key = self.key(request)
        known = None if self._fresh or self.answers is None else self.answers.answer(key)
        with self._lock:
            if key not in self._seen:
                self._seen.add(key)
                self.planned += _chat_plan(request, known is not None)
        return known or Answer(self._made_up())

    def embed(self, model: str, texts: Sequence[str], *, fresh: bool = False) -> NDArray[np.float32]:
        """Vectors of zeros."""
        import numpy as np

        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._seen]
            self._seen.update(new)
            kept = frozenset() if self._fresh else self._real.embedded(model, new)
            asked = [text for text in new if text not in kept]
            self.planned += Planned(-(-len(asked) // _BATCH), len(kept), sum(map(estimated_tokens, asked)))
        return np.zeros((len(texts), 1), dtype=np.float32)

    def embedded(self, model: str, texts: Sequence[str]) -> frozenset[str]:
        return self._real.embedded(model, texts)

    def close(self) -> None:
        """Nothing to close."""

    def _made_up(self) -> str:
        numbers = range(1, 1 + (1 if self.budget is None else self.budget))
        aspects = "".join(f"- point {number}\n" for number in range(self.n_aspects))
        return f"ASPECTS:\n{aspects}\nDECISION: [{', '.join(map(str, numbers))}]"


def _chat_plan(request: ChatRequest, cached: bool) -> Planned:
    if cached:
        return Planned(cached=1)
    completion = ANSWER_TOKENS if request.max_tokens is None else min(ANSWER_TOKENS, request.max_tokens)
    return Planned(1, 0, estimated_prompt_tokens(request.messages), completion)
