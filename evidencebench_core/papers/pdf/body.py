"""How the running text of a paper looks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from evidencebench_core.data.sections import part_of_heading
from evidencebench_core.papers.pdf.page import Line

_FEWEST_ROWS: Final = 20  # of running text, to know where it stands


@dataclass(frozen=True, slots=True)
class Body:
    """The look of most text."""

    font: str
    size: float
    leading: float
    bold: bool
    left: float = math.inf
    right: float = -math.inf

    def sized(self, line: Line) -> bool:
        """Whether a line is as large as the running text."""
        return abs(line.size - self.size) < 0.05 * self.size

    def smaller(self, line: Line) -> bool:
        return line.size < 0.95 * self.size

    def looks(self, line: Line) -> bool:
        """Whether a line is set like the running text, italics aside."""
        font, _, bold, italic = line.style
        return self.sized(line) and (font == self.font or italic) and bold == self.bold


def body_of(pages: Sequence[Sequence[Line]]) -> Body:
    """The look of most characters above the references, page by page the lines from the top down."""
    looks: Counter[tuple[str, float, bool]] = Counter()
    steps: Counter[tuple[float, float]] = Counter()
    for lines in _above_references(pages):
        for line in lines:
            font, size, bold, _ = line.style
            looks[font, size, bold] += len(line.text)
        last: dict[int, Line] = {}
        for line in lines:
            above = last.get(round(line.x0 / 3))
            if above is not None and above.size == line.size:
                steps[line.size, round(above.y - line.y, 1)] += 1
            last[round(line.x0 / 3)] = line
    if not looks:
        return Body("", 10.0, 12.0, bold=False)
    (font, size, bold), _ = looks.most_common(1)[0]
    own = [at for at in steps if abs(at[0] - size) < 0.3 and 0.9 * size < at[1] < 3.5 * size]
    leading = max(own, key=steps.__getitem__)[1] if own else 1.2 * size
    body = Body(font, size, leading, bold)
    text = [line for lines in pages for line in lines if body.looks(line) and len(line.words) > 5]
    if len(text) < _FEWEST_ROWS:
        return body
    outermost = len(text) // 50
    left = sorted(line.x0 for line in text)[outermost]
    right = sorted(line.x1 for line in text)[-1 - outermost]
    return replace(body, left=left, right=right)


def _above_references(pages: Sequence[Sequence[Line]]) -> list[Sequence[Line]]:
    """Lines that may be running text; in a short paper most lines are references."""
    for number in range(len(pages) - 1, -1, -1):
        headings = [i for i, line in enumerate(pages[number]) if part_of_heading(line.text) == "references"]
        if headings and (number or headings[-1] > 20):
            return [*pages[:number], pages[number][: headings[-1]]]
    return list(pages)
