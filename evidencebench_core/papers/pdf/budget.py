"""How long the reading of one file may take, and how much may be in it."""

from __future__ import annotations

import time
from typing import Final

from evidencebench_core.errors import PaperError

__all__ = ["REMEDY", "Budget"]

REMEDY: Final = "Open it in a PDF viewer and print it to a new PDF, or paste the text."
_MOST_OPERATORS: Final = 1_500_000


class Budget:
    """Ends the reading of a file that takes too long or has too much in it."""

    def __init__(self, place: str, seconds: float) -> None:
        self._place, self._seconds = place, seconds
        self._ends = time.monotonic() + seconds
        self._operators = _MOST_OPERATORS

    def spend(self, operators: int) -> None:
        """Take note of work; raises when there is no more time or work left."""
        self._operators -= operators
        if self._operators < 0:
            raise PaperError(self._place, "has more drawings in it than a paper has", REMEDY)
        if time.monotonic() > self._ends:
            raise PaperError(self._place, f"took longer than {self._seconds:g} s to read", REMEDY)
