"""When calls to a server may begin: in turn, as many at once as it takes, within limits a minute."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from evidencebench_core.errors import LLMCancelledError

_MINUTE: Final = 60.0
_TOLERANCE: Final = 1e-6  # of a sum of many parts
_SHORTEST_PAUSE: Final = 1.0  # seconds; doubled up to the longest while the server names none and refuses
_LONGEST_PAUSE: Final = 30.0
_PATIENCE: Final = 600.0  # seconds with a busy server that answers nobody


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a server is asked."""

    concurrency: int = 8  # calls at once
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class _Bucket:
    """What a limit a minute leaves: full at first, and filled evenly."""

    def __init__(self, per_minute: int | None, unit: str) -> None:
        self.per_minute, self.unit = per_minute, unit
        self._room, self._looked_at = float(per_minute or 0), -math.inf

    def seconds_until(self, amount: float, now: float) -> float:
        """How long it takes until there is room; 0 where there is, or where there is no limit."""
        if self.per_minute is None:
            return 0.0
        pace = self.per_minute / _MINUTE
        self._room = min(self.per_minute, self._room + (now - self._looked_at) * pace)
        self._looked_at = now
        missing = min(amount, self.per_minute) - self._room
        return missing / pace if missing > _TOLERANCE else 0.0

    def take(self, amount: float) -> None:
        self._room -= amount


class Gate:
    """Lets calls begin one after the other; for one event loop.

    Where the server asks for patience all calls pause, and the number at once is halved; every answer raises it again,
    by one for as many answers as there are calls at once.
    """

    def __init__(self, limits: Limits) -> None:
        self._most_at_once = self._at_once = float(limits.concurrency)
        self._requests = _Bucket(limits.requests_per_minute, "requests")
        self._tokens = _Bucket(limits.tokens_per_minute, "tokens")
        self._turn, self._has_changed = asyncio.Lock(), asyncio.Event()
        self._n_under_way, self.is_stopped = 0, False
        self._paused_until = self._halved_at = -math.inf
        self._pause, self._latency = _SHORTEST_PAUSE, 0.0
        self._answered_at = -math.inf
        self.note = ""  # why calls wait, in a line for people

    @property
    def has_answered(self) -> bool:
        """Whether any call was answered."""
        return self._answered_at > -math.inf

    def stop(self) -> None:
        """Begin no further call: those that wait end with `LLMCancelledError`, those under way may end."""
        self.is_stopped = True
        self._has_changed.set()

    @asynccontextmanager
    async def permit(self, tokens: float) -> AsyncIterator[None]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        async with self._turn:
            while not self.is_stopped and (wait := self._wait(tokens)) > 0:
                self._has_changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait if wait < math.inf else None):
                        await self._has_changed.wait()
            self.note = ""
            if self.is_stopped:
                raise LLMCancelledError(
                    "the call", "was cancelled", "Start again: what is answered is kept.", True
                )
            self._n_under_way += 1
            self._requests.take(1)
            self._tokens.take(tokens)
        try:
            yield
        finally:
            self._n_under_way -= 1
            self._has_changed.set()

    def answered(self, expected: float, used: float, seconds: float) -> None:
        """A call was answered: its tokens as expected and as counted, and its time."""
        self._answered_at = asyncio.get_running_loop().time()
        self._tokens.take(used - expected)
        self._at_once = min(self._most_at_once, self._at_once + 1 / self._at_once)
        self._latency += (seconds - self._latency) / 8
        self._pause = _SHORTEST_PAUSE

    def waits(self, pause: float, tokens: float, began: float) -> bool:
        """The server was too busy for a call of so many tokens, made at ``began``, and may name a pause in seconds (else NaN).

        Whether the call should wait; not once nobody was answered for ten minutes.
        """
        now = asyncio.get_running_loop().time()
        self._tokens.take(-tokens)
        if now >= self._paused_until:  # else the call had begun before the others were refused
            if now - self._halved_at > self._latency:
                self._at_once, self._halved_at = max(1.0, self._at_once / 2), now
            self._paused_until = now + (pause if pause >= 0 else self._pause)
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        elif pause >= 0:
            self._paused_until = max(self._paused_until, now + pause)
        return now - max(began, self._answered_at) < _PATIENCE

    def _wait(self, tokens: float) -> float:
        """Seconds until a call may begin, as far as is known."""
        now = asyncio.get_running_loop().time()
        if now < self._paused_until:
            wait = self._paused_until - now
            self.note = f"waiting {math.ceil(wait)} s: the server asks for fewer calls"
            return wait
        for bucket, amount in ((self._requests, 1.0), (self._tokens, tokens)):
            if (wait := bucket.seconds_until(amount, now)) > 0:
                self.note = (
                    f"waiting {math.ceil(wait)} s: {bucket.per_minute:,} {bucket.unit} a minute are used up"
                )
                return wait
        return math.inf if self._n_under_way >= int(self._at_once) else 0.0
