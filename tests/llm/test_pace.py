"""When calls begin: turns, pauses and limits a minute, against servers in virtual time."""

import asyncio
import math
import selectors
from typing import Any

import httpx2
import pytest

from evidencebench_core.llm import LLM, Connection, Message
from evidencebench_core.llm.http import HTTP
from tests.llm.server import completion


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time goes on only when all wait, and then at once."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(VirtualSelector(self))

    def time(self) -> float:
        return self.now


class VirtualSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        self._loop.now += timeout or 0.0
        return super().select(0)


class VirtualServer:
    """A server with a bucket of tokens a minute, full at first, that answers after some seconds."""

    def __init__(self, tokens: int, per_minute: int, latency: float, names_pause: bool) -> None:
        self.tokens, self.per_minute = tokens, per_minute
        self.latency, self.names_pause = latency, names_pause
        self.room, self.looked_at = float(per_minute), 0.0
        self.n_active = self.most_at_once = 0

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        now = asyncio.get_running_loop().time()
        self.room = min(self.per_minute, self.room + (now - self.looked_at) * self.per_minute / 60)
        self.looked_at = now
        if self.room < self.tokens:
            wait = math.ceil((self.tokens - self.room) * 60 / self.per_minute)
            headers = {"retry-after": str(wait)} if self.names_pause else {}
            return httpx2.Response(429, headers=headers, json={"error": {"message": "slow down"}})
        self.room -= self.tokens
        self.n_active += 1
        self.most_at_once = max(self.most_at_once, self.n_active)
        await asyncio.sleep(self.latency)
        self.n_active -= 1
        document = completion("yes")
        document["usage"] = {"prompt_tokens": self.tokens - 10, "completion_tokens": 10}
        return httpx2.Response(200, json=document)

    def asked(self, n: int, concurrency: int, n_words: int) -> tuple[list[Any], float]:
        """What becomes of so many questions asked all at once, and the seconds that it took."""
        connection = Connection("http://virtual/v1", "k")

        async def all_of_them() -> list[Any]:
            http = HTTP(connection, httpx2.MockTransport(self))
            http.client()._platform = "Linux"  # else found out in a thread, in real time
            async with LLM(connection, concurrency=concurrency, transport=http) as llm:
                texts = (f"{number} {'word ' * n_words}" for number in range(n))
                calls = (llm.chat([Message("user", text)], model="m", max_tokens=10) for text in texts)
                return await asyncio.gather(*calls, return_exceptions=True)

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            answers = runner.run(all_of_them())
            return answers, runner.get_loop().time()


@pytest.mark.parametrize("latency", [0.2, 2.0, 10.0])
@pytest.mark.parametrize("limit", ["pause named", "not told"])
def test_a_limit_in_tokens_a_minute_fails_nothing(limit: str, latency: float) -> None:
    # 96 calls of 7,000 tokens, of which a bucket of 300,000 holds 42 at first: (672 - 300) / 5 = 74.4 s
    server = VirtualServer(7_000, 300_000, latency, limit == "pause named")
    answers, seconds = server.asked(96, 32, n_words=5_500)
    assert [getattr(answer, "text", answer) for answer in answers] == ["yes"] * 96
    assert seconds < 1.15 * 74.4 + latency
    assert server.most_at_once <= 32
