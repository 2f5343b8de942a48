"""A model that needs no server: a function answers, and everything asked is remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import LLMError
from evidencebench_core.llm import Answer, ChatRequest, EmbeddingRequest, Limits, answer_of
from evidencebench_core.llm.request import Reply, Request, json_bytes, request_key
from evidencebench_core.retrievers import Query
from evidencebench_core.retrievers.llm.retriever import LanguageModel

Said = str | Answer | LLMError


@dataclass
class StandIn:
    """Answers with what ``say`` makes of a request; an error is raised. ``kept`` has the replies by key.

    The vector of a text is ``embed`` of it.
    """

    say: Callable[[ChatRequest], Said] = lambda _: "DECISION: []"
    embed: Callable[[str], list[float]] = lambda _: [1.0, 0.0]
    asked: list[ChatRequest] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    kept: dict[str, Answer] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    stopped: bool = False

    async def __aenter__(self) -> StandIn:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def stop(self) -> None:
        self.stopped = True

    def key(self, request: ChatRequest) -> str:
        return request_key("chat", json_bytes(request.body()), "stand-in")

    def known(self, request: Request) -> Reply | None:
        if isinstance(request, ChatRequest):
            return self.kept.get(self.key(request))
        return None if self.unknown_texts(request) else self._vectors(request)

    def unknown_texts(self, request: EmbeddingRequest) -> tuple[str, ...]:
        return tuple(text for text in dict.fromkeys(request.texts) if text not in self.texts)

    async def reply(
        self, request: Request, *, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Reply:
        if isinstance(request, EmbeddingRequest):
            self.texts.extend(self.unknown_texts(request))
            return self._vectors(request)
        self.asked.append(request)
        said = self.say(request)
        if isinstance(said, LLMError):
            raise said
        answer = Answer(said, "stop", None, 100, 10, 0.5) if isinstance(said, str) else said
        if on_delta is not None:
            on_delta(answer.text)
        return self.kept.setdefault(self.key(request), answer)

    def _vectors(self, request: EmbeddingRequest) -> Reply:
        return np.array([self.embed(text) for text in request.texts], dtype=np.float32)

    @property
    def prompts(self) -> list[str]:
        """What the user's last turn of each request said."""
        return [request.messages[-1].content for request in self.asked]

    @property
    def shown(self) -> list[list[str]]:
        """The numbered lines of each prompt."""
        return [shown_in(prompt) for prompt in self.prompts]


def shown_in(prompt: str) -> list[str]:
    """The lines between the tags of the sentences."""
    match = re.search(r"<sentences>\n(.*?)\n</sentences>", prompt, re.DOTALL)
    return [] if match is None else match[1].split("\n")


def in_turn(*said: Said) -> StandIn:
    """Gives these answers one after the other; one more request is an error."""
    rest = iter(said)
    return StandIn(lambda _: next(rest))


def asked(client: StandIn, query: Query, **settings: Any) -> Any:
    """The retrieval of a model called ``m`` through this client."""
    return retrieved(client, LanguageModel(model="m", **settings), query)


def retrieved(client: StandIn, made: Any, query: Query, **how: Any) -> Any:
    """The retrieval of a retriever through this client."""
    return answer_of(client, made.conversation(query), **how)  # type: ignore[arg-type]


def query_over(sentences: Sequence[str], types: str = "", **rest: Any) -> Query:
    """A query over sentences with their types, a letter each: s, a, n."""
    kinds: dict[str, SentenceType] = {"s": "section_name", "a": "abstract", "n": "normal_paragraph"}
    letters = types or "n" * len(sentences)
    return Query(
        hypothesis=rest.pop("hypothesis", "Tea lowers blood pressure."),
        sentences=tuple(sentences),
        sentence_types=tuple(kinds[letter] for letter in letters),
        sections=("",) * len(sentences),
        **rest,
    )
