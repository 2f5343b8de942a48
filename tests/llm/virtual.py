"""A server in virtual time: hours of limits, waits and outages in milliseconds, and no socket.

::

    server = VirtualServer(lambda call: (2.0, reply()))     # seconds it takes, and what it is
    outcomes = server.asked(32, Limits(concurrency=8))
"""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from evidencebench_core.errors import LLMError
from evidencebench_core.llm import LLM, Answer, Budget, ChatRequest, Connection, Limits, Message, Timeouts
from evidencebench_core.llm.replies import RawReply, Setback
from tests.llm.server import completion

Outcome = Answer | LLMError


class _Loop(asyncio.SelectorEventLoop):
    """A loop whose time goes on only when all wait, and then at once."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self.now


class _Selector(selectors.SelectSelector):
    def __init__(self, loop: _Loop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "all wait, and for nothing"
        self._loop.now += timeout
        return super().select(0)


@dataclass
class Call:
    """One attempt, as the server gets it."""

    number: int  # of the question
    attempt: int
    now: float


Behaviour = Callable[[Call], tuple[float, RawReply | Setback]]


def reply(headers: Mapping[str, str] | None = None, **usage: int) -> RawReply:
    document = completion("DECISION: [1]")
    document["usage"] |= usage
    return RawReply(200, headers or {}, json.dumps(document).encode())


def status(number: int, message: str = "no", headers: Mapping[str, str] | None = None) -> RawReply:
    return RawReply(number, headers or {}, json.dumps({"error": {"message": message}}).encode())


@dataclass
class VirtualServer:
    """Asked questions by number; keeps when each attempt began and how many were under way at most."""

    behaviour: Behaviour
    calls: list[Call] = field(default_factory=list)
    most_at_once: int = 0
    notes: list[tuple[float, str]] = field(default_factory=list)
    ended_at: float = 0.0
    budget: Budget = field(default_factory=Budget)
    _active: int = 0

    async def send(
        self, path: str, body: bytes | None, *, timeouts: Timeouts, on_event: Any = None
    ) -> RawReply:
        if body is None:
            return RawReply(404, {}, b"")
        number = int(json.loads(body)["messages"][0]["content"].split()[0])
        attempt = 1 + sum(call.number == number for call in self.calls)
        self.calls.append(Call(number, attempt, asyncio.get_running_loop().time()))
        self._active += 1
        self.most_at_once = max(self.most_at_once, self._active)
        try:
            seconds, result = self.behaviour(self.calls[-1])
            await asyncio.sleep(seconds)
        finally:
            self._active -= 1
        if isinstance(result, Setback):
            raise result
        return result

    async def close(self) -> None:
        pass

    def asked(
        self, n: int, limits: Limits, words: int = 0, chance: float = 0.0, **more: Any
    ) -> list[Outcome]:
        """What becomes of so many questions of so many words, asked all at once."""

        async def all_of_them() -> list[Outcome]:
            loop = asyncio.get_running_loop()
            llm = LLM(Connection("http://v/v1"), None, self.budget, limits, sender=self, **more)
            async with llm:
                watch = asyncio.create_task(self._watch(llm))
                asks = [llm.reply(question(number, words)) for number in range(n)]
                outcomes = await asyncio.gather(*asks, return_exceptions=True)
                watch.cancel()
            self.ended_at = loop.time()
            for outcome in outcomes:
                assert isinstance(outcome, (Answer, LLMError)), outcome
            return outcomes  # type: ignore[return-value]

        chances = patch("evidencebench_core.llm.limiter.random.random", lambda: chance)
        with chances, asyncio.Runner(loop_factory=_Loop) as runner:
            return runner.run(all_of_them())

    async def _watch(self, llm: LLM) -> None:
        while True:
            await asyncio.sleep(1.0)
            if llm.note:
                self.notes.append((asyncio.get_running_loop().time(), llm.note))


def question(number: int, words: int = 0) -> ChatRequest:
    return ChatRequest("scripted", (Message("user", f"{number} {'word' * words}"),), max_tokens=0)
