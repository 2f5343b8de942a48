"""One report of long work that is a generator: whoever draws it decides whether it goes on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Step:
    """How far a piece of work is: ``done`` of ``total`` units (0 where nothing is counted; the plural ``unit``).

    ``text`` is what is being done, the same while one thing goes on, or, once, something to know.
    """

    text: str
    done: int = 0
    total: int = 0
    unit: str = ""


def drive(steps: Generator[Step, None, _Result], draw: Callable[[Step], object]) -> _Result:
    """Draw every step, and return what the work made; if drawing raises, the work is given up at once."""
    try:
        while True:
            draw(next(steps))
    except StopIteration as end:
        result: _Result = end.value
        return result
    finally:
        steps.close()
