"""A model that needs no server: a function answers, and everything asked is remembered."""

import base64
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from evidencebench_core.data import open_store
from evidencebench_core.errors import LLMError
from evidencebench_core.llm import LLM, Answer, Call, Connection, answer_of
from evidencebench_core.llm.client import Transport
from evidencebench_core.retrievers import Query, make_retriever

Said = str | Answer | LLMError


class Speaking(Transport):
    """A transport whose answers a function makes of the call; an error is raised."""

    def __init__(self, say: Callable[[Call], Said]) -> None:
        self.say = say

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        said = self.say(call)
        if isinstance(said, LLMError):
            raise said
        return Answer(said, "stop", None, 100, 10, 0.5) if isinstance(said, str) else said


class StandIn(LLM):
    """Answers with what ``say`` makes of a call; an error is raised. The vector of a text is ``vector`` of it."""

    def __init__(
        self,
        say: Callable[[Call], Said] = lambda _: "DECISION: []",
        vector: Callable[[str], list[float]] = lambda _: [1.0, 0.0],
    ) -> None:
        super().__init__(Connection("http://stand-in/v1"), transport=Speaking(self.remembered))
        self.say, self.vector = say, vector
        self.asked: list[Call] = []
        self.texts: list[str] = []

    def remembered(self, call: Call) -> Said:
        self.asked.append(call)
        if call.path != "embeddings":
            return self.say(call)
        texts = call.body["input"]
        self.texts += texts
        vectors = np.array([self.vector(text) for text in texts], dtype="<f4")
        return base64.b64encode(vectors.tobytes()).decode()

    @property
    def prompts(self) -> list[str]:
        """The user's last turn of each call."""
        return [call.body["messages"][-1]["content"] for call in self.asked]

    @property
    def shown(self) -> list[list[str]]:
        """The numbered lines of each prompt."""
        blocks = re.compile(r"<sentences>\n(.*?)\n</sentences>", re.DOTALL)
        found = map(blocks.findall, self.prompts)
        return [lines.split("\n") for (lines,) in found]


def in_turn(*said: Said) -> StandIn:
    """Gives these answers one after the other; one more request is an error."""
    rest = iter(said)
    return StandIn(lambda _: next(rest))


def asked(client: StandIn, query: Query, **settings: Any) -> Any:
    """The retrieval of a model called ``m`` through this client."""
    return retrieved(client, make_retriever("llm", {"model": "m", **settings}, store=open_store()), query)


def retrieved(client: StandIn, made: Any, query: Query) -> Any:
    """The retrieval of a retriever through this client."""
    return answer_of(client, lambda llm: made.answer(llm, query)).cut(query.budget)
