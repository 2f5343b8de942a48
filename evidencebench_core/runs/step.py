"""One report of long work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """How far a piece of work is: ``done`` of ``total`` units (0 where nothing is counted; the plural ``unit``).

    ``text`` is what is being done, the same while one thing goes on, or, once, something to know.
    """

    text: str
    done: int = 0
    total: int = 0
    unit: str = ""
