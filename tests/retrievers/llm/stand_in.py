"""A client that needs no server: a function answers, and everything asked is remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import LLMError
from evidencebench_core.llm.request import Answer, ChatRequest, json_bytes, request_key
from evidencebench_core.retrievers import Query
from evidencebench_core.retrievers.llm import Session
from evidencebench_core.retrievers.llm.retriever import LanguageModel

Said = str | Answer | LLMError


@dataclass
class StandIn:
    """Answers with what ``say`` makes of a request; an error is raised."""

    say: Callable[[ChatRequest], Said]
    asked: list[ChatRequest] = field(default_factory=list)
    answers: Any = None
    closed: bool = False

    def key(self, request: ChatRequest) -> str:
        return request_key("chat", json_bytes(request.body()), "stand-in")

    def chat(
        self, request: ChatRequest, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Answer:
        self.asked.append(request)
        said = self.say(request)
        if isinstance(said, LLMError):
            raise said
        answer = Answer(said, "stop", None, 100, 10, 0.5) if isinstance(said, str) else said
        if on_delta is not None:
            on_delta(answer.text)
        return answer

    def embed(self, model: str, texts: Sequence[str], *, fresh: bool = False) -> Any:
        raise AssertionError("nobody asked for vectors")

    def embedded(self, model: str, texts: Sequence[str]) -> frozenset[str]:
        return frozenset()

    def close(self) -> None:
        self.closed = True

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
    return LanguageModel(model="m", **settings).connected(Session(client)).retrieve(query)


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
