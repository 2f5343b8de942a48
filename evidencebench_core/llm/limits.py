"""The pace at which a server is asked: calls at once, requests and tokens a minute."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from evidencebench_core.errors import LLMCancelledError, SettingError, shown

_MINUTE: Final = 60.0
_LOOK: Final = 1.0  # seconds between looks whether the run was stopped


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a server is asked."""

    concurrency: int = 8  # calls at once
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 900.0  # seconds without a byte after which a call is sent again

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise SettingError(name, f"is {shown(value)}", "Give a number above 0.")


@dataclass(slots=True, eq=False)
class Permit:
    """A permit for one call, and its tokens: estimated, then as the server counts them."""

    began: float
    tokens: int


class Gate:
    """Lets calls begin, one after the other, when there is room for them; for one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._slots, self._turn = asyncio.Semaphore(limits.concurrency), asyncio.Lock()
        self._begun: deque[Permit] = deque()  # within the last minute
        self._stopped = False
        self.note = ""  # why calls wait, in a line for people

    def stop(self) -> None:
        """Let no further call begin."""
        self._stopped = True

    @asynccontextmanager
    async def permit(self, tokens: int) -> AsyncIterator[Permit]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        async with self._slots:
            async with self._turn:
                while (wait := self._wait(tokens)) > 0 and not self._stopped:
                    await asyncio.sleep(min(wait, _LOOK))
                self.note = ""
                if self._stopped:
                    problem, remedy = "was cancelled", "Start again: what is answered is kept."
                    raise LLMCancelledError("the call", problem, remedy, stops_run=True)
                permit = Permit(asyncio.get_running_loop().time(), tokens)
                self._begun.append(permit)
            yield permit

    def _wait(self, tokens: int) -> float:
        """Seconds until a call may begin, as far as is known."""
        now = asyncio.get_running_loop().time()
        while self._begun and self._begun[0].began <= now - _MINUTE:
            self._begun.popleft()
        requests, most = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if requests is not None and len(self._begun) >= requests:
            reason = f"{requests:,} requests"
        elif most and self._begun and sum(permit.tokens for permit in self._begun) + tokens > most:
            reason = f"{most:,} tokens"
        else:
            return 0.0
        wait = self._begun[0].began + _MINUTE - now
        self.note = f"waiting {math.ceil(wait)} s: {reason} a minute are used up"
        return wait
