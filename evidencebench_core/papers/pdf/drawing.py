"""Paths on a page, as far as they are horizontal rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from evidencebench_core.papers.pdf.matrix import Matrix
from evidencebench_core.papers.pdf.page import Rule

__all__ = ["Drawing"]

_MOST: Final = 5_000
_THIN: Final = 3.0
_SHORTEST: Final = 12.0


@dataclass(slots=True)
class Drawing:
    """Follows a path; what of it is painted and horizontal is a rule."""

    rules: list[Rule] = field(default_factory=list)
    _path: list[tuple[float, float, float, float]] = field(default_factory=list)
    _pen: tuple[float, float] = (0.0, 0.0)

    def move(self, x: float, y: float) -> None:
        """Begin at a point (operator m)."""
        self._pen = (x, y)

    def line(self, x: float, y: float) -> None:
        """Go to a point (operator l)."""
        self._add(*self._pen, x, y)
        self._pen = (x, y)

    def box(self, x: float, y: float, width: float, height: float, ctm: Matrix) -> None:
        """A rectangle (operator re): a rule if it is thin, else its upper and lower edge."""
        if abs(height * ctm[3]) <= _THIN:
            self._add(x, y + height / 2, x + width, y + height / 2)
        else:
            self._add(x, y, x + width, y)
            self._add(x, y + height, x + width, y + height)

    def paint(self, ctm: Matrix, *, shown: bool) -> None:
        """End the path; it is drawn or filled if it is `shown`."""
        a, _, _, d, e, f = ctm
        for x0, y0, x1, y1 in self._path if shown and len(self.rules) < _MOST else ():
            left, right = sorted((x0 * a + e, x1 * a + e))
            if abs(y1 - y0) * abs(d) < 1.0 and right - left > _SHORTEST:
                self.rules.append(Rule(left, right, y0 * d + f))
        self._path.clear()

    def _add(self, x0: float, y0: float, x1: float, y1: float) -> None:
        if len(self._path) < _MOST:
            self._path.append((x0, y0, x1, y1))
