"""Lines that belong together by their look: a heading, a paragraph or several, a footnote."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evidencebench_core.data.sections import class_of_heading, is_aside, part_of_heading
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.columns import Column
from evidencebench_core.papers.pdf.page import Line, Word, share

BULLETS: Final = frozenset("•▪■●◦‣")  # of lists; a line that begins with one begins a paragraph
_SENTENCE_END: Final = re.compile(r"[.?!:;][\"'”’)\]]*(?:\[?\d[\d,–\-\]\[ ]*)?[*†‡§]*$")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|figs?|vs|cf|approx|dr|drs|no|nos|ca|resp|st|eqs?|refs?)|\b[A-Z])\.$", re.I
)


@dataclass(slots=True)
class Chunk:
    """Consecutive lines of one column with the same look."""

    lines: list[Line]
    column: Column
    gap: float
    is_last: bool = False

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def largest(self) -> float:
        """Size of its largest word; of small capitals that of the capitals."""
        return max(word.size for word in self.words)

    @property
    def words(self) -> list[Word]:
        return [word for line in self.lines for word in line.words]

    @property
    def n_words(self) -> int:
        return len(self.words)

    @property
    def bold(self) -> float:
        """Share of its characters that are bold."""
        return share(self.words, "bold")

    @property
    def italic(self) -> float:
        """Share of its characters that are italic."""
        return share(self.words, "italic")

    @property
    def left(self) -> float:
        """Where most of its lines begin; the first one may be indented."""
        starts = Counter(round(line.x0) for line in self.lines[1:] or self.lines)
        return float(min(starts, key=lambda x: (-starts[x], x)))


def ends_sentence(text: str) -> bool:
    """Whether a text ends as sentences do, closing brackets and citations aside."""
    return _SENTENCE_END.search(text) is not None


def ends_abbreviated(text: str) -> bool:
    """Whether a text ends with "et al." or the like, which ends no sentence."""
    return _ABBREVIATED.search(text) is not None


def chunks(columns: Iterable[Column], body: Body) -> list[Chunk]:
    """The lines of columns, grouped where white, size or weight change."""
    found: list[Chunk] = []
    for column in columns:
        before: Line | None = None
        step = 0.0
        for line in column.lines:
            gap = (before.y - line.y) if before else 1e3
            usual = step or body.leading * max(line.size, before.size if before else 0.0) / body.size
            if (
                before is None
                or gap > 1.28 * usual
                or _differ(before, line, body)
                or (column.page < 2 and is_aside(line.text))
                or _names_section(line, body)
                or _names_section(before, body)
            ):
                found.append(Chunk([line], column, gap / body.leading))
                step = 0.0
            else:
                found[-1].lines.append(line)
                step = gap if 0.8 * line.size < gap else step
            before = line
        if column.lines:
            found[-1].is_last = True
    return found


def _differ(above: Line, line: Line, body: Body) -> bool:
    """Whether two lines cannot be of one paragraph or heading."""
    if abs(above.size - line.size) > 0.06 * max(above.size, line.size):
        return True
    if (above.bold > 0.9) != (line.bold > 0.9):
        # Where one of them is mixed, bold words begin or end within a paragraph.
        return min(above.bold, line.bold) < 0.1 and (
            above.bold < 0.1 or ends_sentence(above.text) or _short(above)
        )
    return (
        (above.italic > 0.9) != (line.italic > 0.9) and min(above.italic, line.italic) < 0.1 and _short(above)
    )


def _names_section(line: Line, body: Body) -> bool:
    """Whether a line is "References", "Methods" or the like, set unlike the running text."""
    text = line.text.strip()
    if len(line.words) > 4 or text.endswith(".") or (body.looks(line) and not text.isupper()):
        return False
    return class_of_heading(text) is not None or part_of_heading(text) == "references"


def _short(line: Line) -> bool:
    return len(line.words) <= 14


def paragraph_groups(chunk: Chunk) -> Sequence[list[Line]]:
    """The paragraphs of a chunk of running text.

    A new one begins at an indented line, or below a line that ends early, if the text before ends a sentence.
    """
    left, right = chunk.left, chunk.column.x1
    groups: list[list[Line]] = [[chunk.lines[0]]]
    for above, line in pairwise(chunk.lines):
        indented = (
            0.7 * line.size < line.x0 - left < 6 * line.size and abs(above.x0 - line.x0) > 0.5 * line.size
        )
        early = right - above.x1 > 0.15 * (right - left)
        whole = ends_sentence(above.text) and not ends_abbreviated(above.text)
        if (whole and (indented or early)) or line.text[:1] in BULLETS:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups
