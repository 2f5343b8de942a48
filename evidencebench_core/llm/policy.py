"""How long and how often a server is tried, and the clock that says so."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a call is tried again, and when it is given up.

    Attributes
    ----------
    attempts : int
        At most so many times is a request sent; a reply that is no answer is asked for once more only.
    first_wait, longest_wait : float
        Seconds before the second attempt; doubled each time, up to the longest, and shortened at random by
        up to a half, so that many callers do not come back at once. A server's ``Retry-After`` goes before.
    total_seconds : float
        For the whole call, attempts and waits together. A wait that would go beyond it is not begun.
    stall_seconds : float
        Without a single byte, after which an attempt is broken off.
    largest_answer : int
        Bytes of a chat reply that are read.
    """

    attempts: int = 8
    first_wait: float = 0.5
    longest_wait: float = 30.0
    total_seconds: float = 600.0
    stall_seconds: float = 300.0
    largest_answer: int = 16 << 20

    def wait(self, attempt: int, chance: float) -> float:
        """Seconds after the attempt of that number, from 1; ``chance`` in [0, 1)."""
        wait: float = min(self.longest_wait, self.first_wait * 2 ** min(attempt - 1, 60))
        return wait * (1 - chance / 2)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance, for tests to replace.

    Attributes
    ----------
    monotonic, wall : callables
        Seconds; ``wall`` since 1970.
    sleep : callable or None
        ``None``: waits that a cancel ends at once.
    chance : callable
        A number in [0, 1).
    """

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] | None = None
    chance: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311 - jitter


def wait_asked_for(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds that ``Retry-After`` asks for, in seconds or as an HTTP date; ``None`` if it does not."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        if 0 <= seconds < 1e9:
            return seconds
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, date.timestamp() - wall)
