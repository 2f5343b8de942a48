"""The limits that all calls to a server share: how many at once and a minute, and whether it is there at all."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import takewhile
from typing import Final

from evidencebench_core.errors import LLMCancelledError, LLMUnreachableError, SettingError, shown
from evidencebench_core.llm.replies import Setback

_MINUTE: Final = 60.0
_FEW: Final = 4  # failures in a row after which only one call at a time tries whether the server is back
_NEVER_ANSWERED: Final = 30.0  # seconds after which a server that has answered nothing yet is given up
_UNITS: Final = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a server is asked, and for how long.

    Attributes
    ----------
    concurrency : int
        Calls at once.
    requests_per_minute, tokens_per_minute : int or None
        ``None``: as the server says in its headers, else no limit.
    give_up : float
        Seconds without a single success after which a server that fails, or lets us wait, is given up.
    attempts : int
        How often a call that fails by itself, while others succeed, is sent.
    first_wait, longest_wait : float
        Seconds before the second attempt, doubled each time, and shortened at random by up to a half, so that
        many callers do not come back at once. A server's ``Retry-After`` goes before.
    """

    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    give_up: float = 600.0
    attempts: int = 8
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        _require_positive(self, "concurrency", "requests_per_minute", "tokens_per_minute", "give_up")

    def patience(self, answered: bool) -> float:
        """Seconds after which a server that fails is given up: sooner one that has answered nothing yet."""
        return self.give_up if answered else min(self.give_up, _NEVER_ANSWERED)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: without a single byte, and for all attempts of a call together; waiting is not counted."""

    first_byte: float = 900.0
    total: float = 1_800.0

    def __post_init__(self) -> None:
        _require_positive(self, "first_byte", "total")


def _require_positive(settings: Limits | Timeouts, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and not 0 < value < math.inf:
            raise SettingError(name, f"is {shown(value)}", "Give a number above 0.")


@dataclass(slots=True, eq=False)
class Slot:
    """The leave of one call to be under way."""

    began: float
    tokens: int
    probe: bool

    def cost(self, kind: str) -> int:
        return self.tokens if kind == "tokens" else 1


class Limiter:
    """Lets calls begin, one after the other, when there is room for them; for one event loop, whose time is ``now``."""

    def __init__(self, limits: Limits, address: str, now: Callable[[], float] = time.monotonic) -> None:
        self.limits, self._address, self._now = limits, address, now
        self.answered = False
        self.lost_in_row = 0  # calls given up with no success between
        self._window = float(limits.concurrency)
        self._halved_at = -math.inf
        self._per_minute = {"requests": limits.requests_per_minute, "tokens": limits.tokens_per_minute}
        self._left = dict.fromkeys(self._per_minute, (0.0, 0.0))  # what the server says is left, until when
        self._started, self._tokens = deque[Slot](), 0  # within the last minute; the tokens of these
        self._closed = (0.0, "")  # until when no call begins, and why
        self._failures, self._reason, self._probing = 0, "", False
        self._n_waits, self._since = 0, math.inf  # without success: waits for all, and since when
        self._turn, self._changed, self._stop = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self._active = self._waiting = 0
        self._waits = (0.0, "")  # until when the next call waits, and why

    def stop(self) -> None:
        """Let nothing begin."""
        self._stop.set()
        self._changed.set()

    @property
    def gone(self) -> bool:
        """Whether the server has failed a few times in a row, so that only probes are sent."""
        return self._failures >= _FEW

    @property
    def busy(self) -> bool:
        """Whether any call is under way or waits for its turn."""
        return self._active + self._waiting > 0

    @property
    def _seconds_left(self) -> float:
        return self._since + self.limits.patience(self.answered) - self._now()

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people; ``""`` if they do not."""
        now = self._now()
        if self.gone:
            n_seconds = math.ceil(self._closed[0] - now)
            next_try = "trying now" if self._probing or n_seconds <= 0 else f"next try in {n_seconds} s"
            left = max(0.0, self._seconds_left)
            giving_up = f"{math.ceil(left)} s" if left < 2 * _MINUTE else f"{round(left / _MINUTE)} min"
            state = "the server is gone" if self.answered else "the server does not answer"
            return f"{state}, {self._reason}: {next_try}, giving up in {giving_up}"
        until, why = self._waits
        return f"waiting {math.ceil(until - now):,} s: {why}" if why and until > now else ""

    def check(self) -> None:
        """Raise `LLMCancelledError` once stopped, `LLMUnreachableError` if the server has failed for too long."""
        if self._stop.is_set():
            remedy = "Start again: what is answered is kept."
            raise LLMCancelledError(self._address, "the call was cancelled", remedy, stops_run=True)
        if self.gone and not self._probing and self._seconds_left <= 0:
            raise self._given_up(f"{self._reason} (tried {self._failures:,} times)")

    def _given_up(self, reason: str) -> LLMUnreachableError:
        remedy = "Check the server, then start again: what is answered is kept."
        return LLMUnreachableError(self._address, reason.rstrip("."), remedy, stops_run=True)

    async def pause(self, attempt: int, headers: Mapping[str, str]) -> None:
        """Wait after the attempt of that number, from 1; `stop` ends it."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), self._wait_after(attempt, headers))
        self.check()

    def _wait_after(self, attempt: int, headers: Mapping[str, str]) -> float:
        if asked := wait_asked_for(headers):
            return asked * (1 + _chance() / 10)
        wait: float = min(self.limits.longest_wait, self.limits.first_wait * 2 ** min(attempt - 1, 60))
        return wait * (1 - _chance() / 2)

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        self._waiting += 1
        try:
            async with self._turn:
                await self._wait_for_room(tokens)
                slot = Slot(self._now(), tokens, self.gone)
                self._probing |= slot.probe
                self._active += 1
                self._started.append(slot)
                self._tokens += tokens
                self._left = {kind: (n - slot.cost(kind), until) for kind, (n, until) in self._left.items()}
        finally:
            self._waiting -= 1
        try:
            yield slot
        finally:
            self._active -= 1
            if slot.probe:
                self._probing = False
            self._changed.set()

    async def _wait_for_room(self, tokens: int) -> None:
        while True:
            self.check()
            wait, why = self._wait(Slot(0.0, tokens, False))
            self._waits = (self._now() + wait, why)
            if wait <= 0:
                return
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait if wait < math.inf else None)

    def _wait(self, call: Slot) -> tuple[float, str]:
        """Seconds until a call may begin, as far as is known, and why."""
        now = self._now()
        if self._active >= int(self._window) or (self.gone and self._probing):
            return math.inf, ""
        until, why = self._closed
        if self.gone and until > now:
            return max(min(until - now, self._seconds_left), 1e-3), ""
        while self._started and self._started[0].began <= now - _MINUTE:
            self._tokens -= self._started.popleft().tokens
        waits = [(0.0, ""), (until - now, why)]
        for kind, most in self._per_minute.items():
            cost, (n_left, until) = call.cost(kind), self._left[kind]
            used = self._tokens if kind == "tokens" else len(self._started)
            if most and self._started and used + cost > most:
                wait = self._started[0].began + _MINUTE - now
                waits.append((wait, f"{most:,} {kind} a minute are used up"))
            if cost > n_left:
                waits.append((until - now, f"the server allows no more {kind} for now"))
        return max(waits)

    # -- how a call went: told while its slot is held -----------------------------------------

    def success(self, slot: Slot, tokens: int) -> None:
        """The server does its work, and has counted a call's tokens."""
        self.answered = True
        self.lost_in_row = self._failures = self._n_waits = 0
        self._since = math.inf
        self._window = min(float(self.limits.concurrency), self._window + 1 / self._window)
        if self._started and self._started[0].began <= slot.began:
            self._tokens += tokens - slot.tokens
        slot.tokens = tokens
        self._changed.set()

    def setback(self, slot: Slot, setback: Setback) -> None:
        """A call failed; a server that answers, whatever it says, is there."""
        if setback.action == "wait":
            self._hold(slot, setback)
        elif setback.action not in ("again", "end_run"):
            self.success(slot, slot.tokens)
        elif setback.action == "again" and setback.status != 200:
            now = self._now()
            self._since = min(self._since, now)
            self._failures, self._reason = self._failures + 1, setback.reason
            if slot.probe or self._failures == _FEW:
                self._n_waits += 1
                self._closed = (now + self._wait_after(self._n_waits, {}), "")

    def _hold(self, slot: Slot, setback: Setback) -> None:
        """The server wants fewer calls: none begins for a while, and then fewer at once."""
        now, reason, asked = self._now(), setback.reason, wait_asked_for(setback.headers)
        self._since, self._failures = min(self._since, now), 0  # it is there
        if slot.began >= self._halved_at:  # else it is of those that were under way then
            self._window, self._halved_at = max(1.0, self._window / 2), now
            self._n_waits += 1
        until = now + self._wait_after(self._n_waits, setback.headers)
        if until - self._since > self.limits.give_up:
            raise self._given_up(f"{reason}, and asks to wait {asked:,.0f} s" if asked else reason)
        kind = next((one for one in ("token", "request") if one in reason.lower()), "")
        why = f"the server allows no more {kind}s for now" if kind else "the server asks to wait"
        self._closed = max(self._closed, (until, why))

    def learn(self, slot: Slot, headers: Mapping[str, str]) -> None:
        """Take in what the headers of any reply say of the server's limits, and of what is left of them for now."""
        now = self._now()
        for kind in self._per_minute:
            limit = _number(headers.get(f"x-ratelimit-limit-{kind}"))
            if limit and getattr(self.limits, f"{kind}_per_minute") is None:
                self._per_minute[kind] = int(limit)
            n_left = _number(headers.get(f"x-ratelimit-remaining-{kind}"))
            reset = _duration(headers.get(f"x-ratelimit-reset-{kind}"))
            if n_left is not None and reset is not None and reset <= self.limits.give_up:
                # of those that began later the server did not know yet
                later = takewhile(lambda one: one.began > slot.began, reversed(self._started))
                self._left[kind] = (n_left - sum(one.cost(kind) for one in later), now + reset)


def _chance() -> float:
    return random.random()  # noqa: S311 - jitter


def wait_asked_for(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks for, in seconds or as an HTTP date; ``None`` if it does not."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        if (seconds := _number(headers.get(name))) is not None:
            return seconds * unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, date.timestamp() - time.time())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e12 else None


def _duration(text: str | None) -> float | None:
    """Seconds in ``"6m0s"``, ``"1h2m3.5s"``, ``"120ms"`` or ``"7"``."""
    if not text or not re.fullmatch(r"(?:\d{1,9}(?:\.\d+)?(?:ms|[smhd]|$))+", text):
        return None
    return sum(float(n) * _UNITS[unit] for n, unit in re.findall(r"([\d.]+)(ms|[smhd]|)", text))
