"""The limits that all calls to a server share."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server is asked at most, and for how long.

    Attributes
    ----------
    concurrency : int
        Calls at once.
    requests_per_minute, tokens_per_minute : int or None
        ``None``: as the server says in its headers, else no limit.
    give_up : float
        Seconds without a single success after which a server that fails or keeps us waiting is given up.
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


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: without a single byte, and for all attempts of a call together; waiting is not counted."""

    first_byte: float = 900.0
    total: float = 1_800.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of day (seconds since 1970) and chance (a number in [0, 1)), for tests to replace."""

    wall: Callable[[], float] = time.time
    chance: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # noqa: S311 - jitter
