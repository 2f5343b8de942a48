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
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final

from evidencebench_core.errors import LLMCancelledError, LLMUnreachableError, SettingError, shown

_MINUTE: Final = 60.0
_FEW: Final = 4  # failures in a row after which only one call at a time tries whether the server is back
_NEVER_ANSWERED: Final = 30.0  # seconds after which a server that has answered nothing yet is given up
_KINDS: Final = ("requests", "tokens")
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
        Seconds before the second attempt; doubled each time, up to the longest, and shortened at random by up
        to a half, so that many callers do not come back at once. A server's ``Retry-After`` goes before.
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


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of day (seconds since 1970) and chance (a number in [0, 1)), for tests to replace."""

    wall: Callable[[], float] = time.time
    chance: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311 - jitter


@dataclass(slots=True, eq=False)
class Slot:
    """The leave of one call to be under way."""

    began: float
    tokens: int
    probe: bool


class Limiter:
    """Lets calls begin, one after the other, when there is room for them; for one event loop at a time."""

    def __init__(self, limits: Limits, clock: Clock, address: str) -> None:
        self.limits, self._clock, self._address = limits, clock, address
        self.answered = False
        self._now: Callable[[], float] = time.monotonic
        self._window = float(limits.concurrency)
        self._per_minute = {kind: getattr(limits, f"{kind}_per_minute") for kind in _KINDS}
        self._started: deque[Slot] = deque()  # within the last minute
        self._tokens = 0  # of these
        self._left = dict.fromkeys(_KINDS, (0.0, 0.0))  # what the server says is left, and until when
        self._closed_until, self._closed_because = 0.0, ""
        self._halved_at = -math.inf
        self.open()

    def open(self) -> None:
        """Begin in a new event loop; a server given up before has another chance."""
        with suppress(RuntimeError):  # outside of a loop
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
            self._now = self._loop.time
        self._turn, self._changed, self._stop = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self._active = self._waiting = 0
        self._waits: tuple[str, float] = ("", 0.0)  # of the next call, why and until when
        self._reset()

    def _reset(self) -> None:
        self._failures, self._failing_since, self._reason = 0, 0.0, ""
        self._probing, self._n_probes, self._next_probe = False, 0, 0.0
        self._refusals, self._refused_since = 0, 0.0
        self.lost_in_row = 0  # calls given up with no success between

    def close(self) -> None:
        """Leave the event loop."""
        self._loop = None

    def stop(self) -> None:
        """Let nothing begin; from any thread."""
        if self._loop is None:
            self._stop.set()
            return
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
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
        return self._failing_since + self.limits.patience(self.answered) - self._now()

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people."""
        now = self._now()
        if self.gone:
            n_seconds = math.ceil(self._next_probe - now)
            next_try = "trying now" if self._probing or n_seconds <= 0 else f"next try in {n_seconds} s"
            left = max(0.0, self._seconds_left)
            giving_up = f"{math.ceil(left)} s" if left < 2 * _MINUTE else f"{round(left / _MINUTE)} min"
            state = "the server is gone" if self.answered else "the server does not answer"
            return f"{state}, {self._reason}: {next_try}, giving up in {giving_up}"
        why, until = self._waits
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

    async def pause(self, seconds: float) -> None:
        """Wait; `stop` ends it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        self.check()

    def wait_after(self, attempt: int, headers: Mapping[str, str] | None = None) -> float:
        """Seconds after the attempt of that number, from 1, or as long as the server asks for."""
        if asked := wait_asked_for(headers or {}, self._clock.wall()):
            return asked * (1 + self._clock.chance() / 10)
        wait: float = min(self.limits.longest_wait, self.limits.first_wait * 2 ** min(attempt - 1, 60))
        return wait * (1 - self._clock.chance() / 2)

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        self._waiting += 1
        try:
            async with self._turn:
                slot = await self._begun(tokens)
        finally:
            self._waiting -= 1
        try:
            yield slot
        finally:
            self._active -= 1
            if slot.probe:
                self._probing = False
            self._changed.set()

    async def _begun(self, tokens: int) -> Slot:
        while True:
            self.check()
            wait, why = self._wait(tokens)
            if wait <= 0:
                break
            self._waits = (why, self._now() + wait)
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait if wait < math.inf else None):
                    await self._changed.wait()
        self._waits = ("", 0.0)
        slot = Slot(self._now(), tokens, self.gone)
        self._probing |= slot.probe
        self._active += 1
        self._started.append(slot)
        self._tokens += tokens
        for kind, n in zip(_KINDS, (1, tokens), strict=True):
            n_left, until = self._left[kind]
            self._left[kind] = (n_left - n, until)
        return slot

    def _wait(self, tokens: int) -> tuple[float, str]:
        """Seconds until a call may begin, as far as is known, and why."""
        now = self._now()
        if self._active >= int(self._window) or (self.gone and self._probing):
            return math.inf, ""
        if self.gone and self._next_probe > now:
            return max(min(self._next_probe - now, self._seconds_left), 1e-3), ""
        while self._started and self._started[0].began <= now - _MINUTE:
            self._tokens -= self._started.popleft().tokens
        waits = [(0.0, ""), (self._closed_until - now, self._closed_because)]
        n_most, most_tokens = (self._per_minute[kind] for kind in _KINDS)
        if n_most and len(self._started) >= n_most:
            began = self._started[len(self._started) - n_most].began
            waits.append((began + _MINUTE - now, f"{n_most:,} requests a minute are used up"))
        if most_tokens and self._started and self._tokens + tokens > most_tokens:
            wait = self._started[0].began + _MINUTE - now
            waits.append((wait, f"{most_tokens:,} tokens a minute are used up"))
        for kind, n_needed in zip(_KINDS, (1, tokens), strict=True):
            n_left, until = self._left[kind]
            if n_needed > n_left:
                waits.append((until - now, _no_more(kind)))
        return max(waits)

    # -- how a call went: told while its slot is held -----------------------------------------

    def success(self) -> None:
        """The server does its work."""
        self._reset()
        self.answered = True
        self._window = min(float(self.limits.concurrency), self._window + 1 / self._window)
        self._changed.set()

    def count(self, slot: Slot, tokens: int) -> None:
        """The server has counted a call's tokens."""
        if self._started and self._started[0].began <= slot.began:
            self._tokens += tokens - slot.tokens
        slot.tokens = tokens

    def failure(self, slot: Slot, reason: str) -> None:
        """The server failed, or was not reached."""
        now = self._now()
        self._failing_since = self._failing_since if self._failures else now
        self._failures, self._reason = self._failures + 1, reason
        if slot.probe:
            self._n_probes += 1
        if slot.probe or self._failures == _FEW:
            self._next_probe = now + self.wait_after(self._n_probes + 1)

    def hold(self, slot: Slot, headers: Mapping[str, str], reason: str) -> None:
        """The server wants fewer calls: none begins for a while, and then fewer at once."""
        now = self._now()
        self._refused_since = self._refused_since if self._refusals else now
        self._failures = 0  # it is there
        if slot.began >= self._halved_at:  # else it is of those that were under way then
            self._window, self._halved_at = max(1.0, self._window / 2), now
            self._refusals += 1
        asked = wait_asked_for(headers, self._clock.wall())
        wait = self.wait_after(self._refusals, headers)
        if now + wait - self._refused_since > self.limits.give_up:
            raise self._given_up(f"{reason}, and asks to wait {asked:,.0f} s" if asked else reason)
        if now + wait > self._closed_until:
            kind = next((one for one in reversed(_KINDS) if one[:-1] in reason.lower()), "")
            self._closed_until = now + wait
            self._closed_because = _no_more(kind) if kind else "the server asks to wait"

    def learn(self, slot: Slot, headers: Mapping[str, str]) -> None:
        """Take in what the headers of any reply say of the server's limits, and of what is left of them for now."""
        now = self._now()
        for kind in _KINDS:
            limit = _number(headers.get(f"x-ratelimit-limit-{kind}"))
            if limit and getattr(self.limits, f"{kind}_per_minute") is None:
                self._per_minute[kind] = int(limit)
            n_left = _number(headers.get(f"x-ratelimit-remaining-{kind}"))
            reset = _duration(headers.get(f"x-ratelimit-reset-{kind}"))
            if n_left is None or reset is None or reset > self.limits.give_up:
                continue
            for later in reversed(self._started):  # of these the server did not know yet
                if later.began <= slot.began:
                    break
                n_left -= later.tokens if kind == "tokens" else 1
            self._left[kind] = (n_left, now + reset)


def _no_more(kind: str) -> str:
    return f"the server allows no more {kind} for now"


def wait_asked_for(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds that ``Retry-After`` asks for, in seconds or as an HTTP date; ``None`` if it does not."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        seconds = _number(headers.get(name))
        if seconds is not None:
            return seconds * unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, date.timestamp() - wall)


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
