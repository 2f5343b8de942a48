"""Running headers and footers, page numbers and line numbers: what belongs to the pages, not to the text."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from evidencebench_core.data.sections import CAPTION
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.page import Line, Page

_ZONE: Final = 0.18  # of the height of a page, at its head and at its foot
_DEEPEST: Final = 6  # rows from the outermost one
_ROW: Final = 2.0  # points within which lines stand on one baseline
_LEVEL: Final = 6.0  # points by which the same header may stand higher or lower
_DIGITS: Final = re.compile(r"\d+")
_NUMBER: Final = re.compile(
    r"(?:page|p\.?|s|e)?\s*[-–—|]?\s*(\d{1,6})\s*[-–—|]?(?:\s*(?:of|/)\s*\d{1,4})?", re.I
)
_WIDEST_MARGIN: Final = 0.26  # of a page's width, and of its characters
_FEWEST_NOTES: Final = 4  # lines of affiliations beside an abstract
_LINE_NUMBER: Final = re.compile(r"\d{1,4}")
_FEWEST_LINE_NUMBERS: Final = 5
_OWNED: Final = re.compile(
    r"©|\bcopyright\b|\bdoi\b|https?://|www\.|\ball rights reserved\b|\bissn\b|^preprint submitted|"
    r"^proceedings of\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Edge:
    """A line near the head or foot of its page."""

    page: int
    line: Line
    distance: float
    at_head: bool

    @property
    def pattern(self) -> tuple[bool, str]:
        """Its text without numbers."""
        return self.at_head, _DIGITS.sub("#", self.line.text).casefold()

    @property
    def offset(self) -> tuple[bool, int] | None:
        """By how much the number that it is exceeds the place of its page; None for no number."""
        number = _NUMBER.fullmatch(self.line.text.strip())
        return (self.at_head, int(number[1]) - self.page) if number else None


def without_furniture(
    pages: Sequence[Page], lines: Sequence[Sequence[Line]], body: Body
) -> tuple[list[list[Line]], int]:
    """Lines without running headers, footers and page numbers.

    Such a line stands at the head or foot of its page, and on another page stands the same, numbers aside,
    at the same height; or it is a number that grows with the pages, or what stands beside one; or it is
    small and alone at the head of a page.
    """
    edges = [_edges(page, found) for page, found in zip(pages, lines, strict=True)]
    seen: dict[tuple[bool, str], list[_Edge]] = defaultdict(list)
    for edge in chain.from_iterable(edges):
        seen[edge.pattern].append(edge)
    offsets = Counter(edge.offset for edge in chain.from_iterable(edges) if edge.offset is not None)
    kept: list[list[Line]] = []
    for found, own in zip(lines, edges, strict=True):
        counted = {edge.line for edge in own if edge.offset is not None and offsets[edge.offset] > 1}
        belongs = counted | {
            edge.line
            for edge in own
            if _again(edge, seen[edge.pattern]) or _set_apart(edge, found, counted, body)
        }
        out = _outermost([edge.line for edge in own if edge.at_head], found, belongs)
        out |= _outermost([edge.line for edge in reversed(own) if not edge.at_head], found, belongs)
        kept.append([line for line in found if line not in out])
    return kept, sum(map(len, lines)) - sum(map(len, kept))


def _edges(page: Page, lines: Sequence[Line]) -> list[_Edge]:
    """The lines near head and foot, from the top down."""
    heights = sorted({round(line.y) for line in lines})
    found = []
    for line in lines:
        if line.y > page.height * (1 - _ZONE) and round(line.y) >= heights[-_DEEPEST:][0]:
            found.append(_Edge(page.number, line, page.height - line.y, at_head=True))
        elif line.y < page.height * _ZONE and round(line.y) <= heights[:_DEEPEST][-1]:
            found.append(_Edge(page.number, line, line.y, at_head=False))
    return found


def _again(edge: _Edge, others: Sequence[_Edge]) -> bool:
    """Whether another page has the same at the same height."""
    return len(edge.line.text) > 1 and any(
        other.page != edge.page and abs(other.distance - edge.distance) < _LEVEL for other in others
    )


def _set_apart(edge: _Edge, lines: Sequence[Line], counted: Collection[Line], body: Body) -> bool:
    """Whether white lies between it and the text, and it is, or stands beside, what texts do not have."""
    line = edge.line
    row = [other for other in lines if abs(other.y - line.y) < _ROW]
    owned = any(_OWNED.search(other.text) for other in row)
    numbered = edge.offset is not None or any(other in counted for other in row)
    text = [other for other in lines if not _OWNED.search(other.text) and not _NUMBER.fullmatch(other.text)]
    inwards = [(line.y - other.y) * (1 if edge.at_head else -1) for other in text if other is not line]
    white = min((step for step in inwards if step > 0), default=1e3)  # to the next line, away from the edge
    if owned or numbered:
        return white > 1.6 * line.size
    largest = max(word.size for word in line.words)
    small = edge.page > 0 and edge.at_head and largest < 0.95 * body.size and CAPTION.match(line.text) is None
    return small and white > 1.9 * body.leading


def _outermost(inwards: Sequence[Line], lines: Sequence[Line], belongs: Collection[Line]) -> set[Line]:
    """Lines of the rows that belong to the page, from its edge inwards up to the first row that does not."""
    out: set[Line] = set()
    for line in inwards:
        row = {other for other in lines if abs(other.y - line.y) < _ROW}
        if not row.issubset(belongs):
            break
        out |= row
    return out


def without_margins(
    pages: Sequence[Page], lines: Sequence[Sequence[Line]], body: Body
) -> tuple[list[list[Line]], int]:
    """Lines without small notes in the margin (dates, licences, addresses), and on how many pages there were any.

    They stand wholly beside the running text of all pages, in a strip that is too narrow for a column.
    """
    kept: list[list[Line]] = []
    for page, found in zip(pages, lines, strict=True):
        left = [line for line in found if line.x1 < body.left < math.inf and not body.sized(line)]
        right = [line for line in found if line.x0 > body.right > -math.inf and not body.sized(line)]
        out: set[Line] = set()
        for strip in filter(None, (left, right)):
            width = max(line.x1 for line in strip) - min(line.x0 for line in strip)
            share = _n_characters(strip) / _n_characters(found)
            if width < _WIDEST_MARGIN * page.width and share < _WIDEST_MARGIN:
                out.update(strip)
        if page.number == 0 and len(found) < 600:  # no paper's first page has more
            out.update(_beside_abstract(page, found, body))
        kept.append([line for line in found if line not in out])
    return kept, sum(len(before) > len(after) for before, after in zip(lines, kept, strict=True))


def _beside_abstract(page: Page, lines: Sequence[Line], body: Body) -> list[Line]:
    """Affiliations, dates and the like that stand on a first page beside text in a wider column."""
    stacks: dict[tuple[int, float], list[Line]] = defaultdict(list)
    for line in lines:
        if body.smaller(line) and sum(map(str.isalpha, line.text)) > 3:  # no numbers of a list
            stacks[round(line.x0 / 2), line.size].append(line)
    found: list[Line] = []
    for (_, size), stack in stacks.items():
        x0, x1 = min(line.x0 for line in stack), max(line.x1 for line in stack)
        top, foot = max(line.y for line in stack) + size, min(line.y for line in stack) - size
        band = [line for line in lines if foot < line.y < top]
        strip = [line for line in band if x0 - 2 < line.x0 and line.x1 < x1 + 2]
        beside = [line for line in band if (line.x0 > x1 + 3 or line.x1 < x0 - 3) and line.size >= size]
        n_wider = sum(line.x1 - line.x0 > 1.5 * (x1 - x0) for line in beside)  # cells of a table are not
        if (
            len(stack) >= _FEWEST_NOTES <= len(beside) == len(band) - len(strip)
            and x1 - x0 < _WIDEST_MARGIN * page.width
            and n_wider >= 0.4 * len(beside)
        ):
            found += strip
    return found


def _n_characters(lines: Sequence[Line]) -> int:
    return sum(len(line.text) for line in lines)


def without_line_numbers(lines: Sequence[Line]) -> list[Line]:
    """Lines of a page without the numbers in its margin.

    Line numbers are whole numbers below each other that grow by the same step; nothing stands on their far
    side.
    """
    stacks: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if _LINE_NUMBER.fullmatch(line.text):
            stacks[round(line.x1 / 4)].append(line)
    out: set[Line] = set()
    for at in list(stacks):
        stack = sorted(stacks[at] + stacks.get(at + 1, []), key=lambda line: -line.y)
        if len(stack) >= _FEWEST_LINE_NUMBERS and _counts_up(stack) and _in_margin(stack, lines):
            out.update(stack)
    kept = [line for line in lines if line not in out]
    _take_first_numbers(kept)
    return kept


def _counts_up(stack: Sequence[Line]) -> bool:
    numbers = [int(line.text) for line in stack]
    step, times = Counter(b - a for a, b in pairwise(numbers)).most_common(1)[0]
    return step in (1, 2, 5, 10) and times >= 0.7 * (len(numbers) - 1)


def _in_margin(stack: Sequence[Line], lines: Sequence[Line]) -> bool:
    x0, x1 = min(line.x0 for line in stack), max(line.x1 for line in stack)
    rest = set(lines).difference(stack)
    left, right = sum(line.x0 < x0 for line in rest), sum(line.x1 > x1 for line in rest)
    return min(left, right) <= 0.1 * max(1, len(rest)) or not rest


def _take_first_numbers(lines: Sequence[Line]) -> None:
    """Take line numbers off lines to which they stand so close that they were joined."""
    first = [
        line
        for line in lines
        if len(line.words) > 1
        and _LINE_NUMBER.fullmatch(line.words[0].text)
        and line.words[1].x0 - line.words[0].x1 > 0.3 * line.size
    ]
    ordered = sorted(first, key=lambda line: -line.y)
    numbers = [int(line.words[0].text) for line in ordered]
    steps = [b - a for a, b in pairwise(numbers)]
    edges = Counter(round(line.words[0].x1 / 3) for line in ordered)
    if (
        len(numbers) < 2 * _FEWEST_LINE_NUMBERS
        or steps.count(1) < 0.8 * len(steps)
        or edges.most_common(1)[0][1] < 0.7 * len(ordered)
    ):
        return
    for line in ordered:
        line.measure(line.words[1:])
