"""Words into lines, and lines without what belongs to the page: headers, footers, line numbers, margins."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from evidencebench_core.data.sections import CAPTION, part_of_heading
from evidencebench_core.papers.pdf.chars import Page, Word

_BREAK: Final = 0.9  # ems; columns may stand one em apart, words stand closer
_SPACE: Final = 0.13  # ems
_EDGE: Final = 0.18  # of the height of a page, at its head and at its foot
_EDGE_ROWS: Final = 6
_SAME_HEIGHT: Final = 6.0  # points by which the same header may stand higher or lower
_NARROW: Final = 0.26  # of a page's width, and of its characters: what a margin may take
_MIN_LINE_NUMBERS: Final = 5
_DIGITS: Final = re.compile(r"\d+")


class Line:
    """Words that stand on one baseline, next to each other, super- and subscripts with them."""

    __slots__ = ("bold", "font", "italic", "size", "text", "words", "x0", "x1", "y")

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = list(words)
        self.x0 = min(word.x0 for word in words)
        self.x1 = max(word.x1 for word in words)
        levels: Counter[tuple[float, float]] = Counter()
        fonts: Counter[str] = Counter()
        for word in words:
            levels[round(word.size, 1), round(word.y, 1)] += len(word.text)
            fonts[word.font] += len(word.text)
        self.size, self.y = levels.most_common(1)[0][0]
        self.font = fonts.most_common(1)[0][0]
        n_characters = fonts.total()
        self.bold = sum(len(word.text) for word in words if word.bold) / n_characters
        self.italic = sum(len(word.text) for word in words if word.italic) / n_characters
        self.text = _text(words)

    @property
    def page(self) -> int:
        return self.words[0].page


@dataclass(frozen=True, slots=True)
class Body:
    """How the running text of a paper looks."""

    font: str = ""
    size: float = 10.0
    leading: float = 12.0
    is_bold: bool = False
    left: float = math.inf  # where it begins and ends on its pages
    right: float = -math.inf

    def is_smaller(self, line: Line) -> bool:
        return line.size < 0.95 * self.size

    def matches(self, line: Line) -> bool:
        """Whether a line is set like the running text, italics aside."""
        same_size = abs(line.size - self.size) < 0.05 * self.size
        same_font = line.font == self.font or line.italic > 0.5
        return same_size and same_font and (line.bold > 0.5) == self.is_bold


def body_of(pages: Iterable[Iterable[Line]]) -> Body:
    """The look of most characters above the references, page by page the lines from the top down."""
    lines = list(chain.from_iterable(pages))
    # In a short paper most lines are references.
    ends = [i for i, line in enumerate(lines) if part_of_heading(line.text) == "references"]
    end = ends[-1] if ends and ends[-1] > 20 else len(lines)
    looks: Counter[tuple[str, float, bool]] = Counter()
    steps: Counter[tuple[float, float]] = Counter()
    above: dict[tuple[int, int], Line] = {}
    for line in lines[:end]:
        looks[line.font, line.size, line.bold > 0.5] += len(line.text)
        place = (line.page, round(line.x0 / 3))
        if place in above and above[place].size == line.size:
            steps[line.size, round(above[place].y - line.y, 1)] += 1
        above[place] = line
    if not looks:
        return Body()
    font, size, is_bold = looks.most_common(1)[0][0]
    leadings = [step for step in steps if abs(step[0] - size) < 0.3 and 0.9 * size < step[1] < 3.5 * size]
    leading = max(leadings, key=steps.__getitem__)[1] if leadings else 1.2 * size
    body = Body(font, size, leading, is_bold)
    text = [line for line in lines if body.matches(line) and len(line.words) > 5]
    if len(text) < 20:
        return body
    outermost = len(text) // 50
    left = sorted(line.x0 for line in text)[outermost]
    right = sorted(line.x1 for line in text)[-1 - outermost]
    return Body(font, size, leading, is_bold, left, right)


def _text(words: Iterable[Word]) -> str:
    parts: list[str] = []
    before: Word | None = None
    for word in words:
        if before and (word.spaced or word.x0 - before.x1 >= _SPACE * max(word.size, before.size)):
            parts.append(" ")
        parts.append(word.text)
        before = word
    return "".join(parts)


def lines_of(page: Page) -> list[Line]:
    """Words joined as far as they are close together; what stands in two columns is never joined.

    Files give the words of a line in order, nearly always: what follows in the file and stands close to the
    right is joined, then what stands close on the page.
    """
    groups: list[list[Word]] = []
    x1 = y = size = 0.0
    for word in page.words:
        if groups:
            large, small = max(size, word.size), min(size, word.size)
            rise, gap = word.y - y, word.x0 - x1
            is_level = abs(rise) < 0.12 * large
            is_script = small < 0.87 * large and -0.45 * large < rise < 0.75 * large
            before = groups[-1][-1]
            if is_level and word.text == before.text and abs(word.x0 - before.x0) < 0.15 * large:
                continue  # drawn twice to look bold
            if (is_level or is_script) and -0.6 * large < gap < _BREAK * small:
                groups[-1].append(word)
                x1 = max(x1, word.x1)
                if word.size > 1.15 * size or (is_script and word.size > size):
                    y, size = word.y, word.size
                continue
        groups.append([word])
        x1, y, size = word.x1, word.y, word.size
    return merged_lines(map(Line, groups), _BREAK)


def merged_lines(lines: Iterable[Line], max_gap: float) -> list[Line]:
    """Lines joined with those right of them on the same baseline, up to a gap in ems; from the top down."""
    result: list[Line] = []
    for line in sorted(lines, key=lambda line: (-line.y, line.x0)):
        for i in range(len(result) - 1, max(-1, len(result) - 13), -1):
            if _are_joined(result[i], line, max_gap):
                result[i] = Line(sorted([*result[i].words, *line.words], key=lambda word: word.x0))
                break
        else:
            result.append(line)
    return sorted(result, key=lambda line: (-line.y, line.x0))


def _are_joined(line: Line, other: Line, max_gap: float) -> bool:
    large, small = max(line.size, other.size), min(line.size, other.size)
    gap = max(other.x0 - line.x1, line.x0 - other.x1)
    return abs(other.y - line.y) < 0.12 * large and -0.3 * large < gap < max_gap * small


# -- what belongs to the page ---------------------------------------------------------------------


@dataclass(slots=True)
class _EdgeRow:
    """Lines on one baseline near the head or foot of a page."""

    page: int
    distance: float  # from the edge
    lines: list[Line]
    white: float = math.inf  # to the next row, away from the edge

    @property
    def pattern(self) -> str:
        """Its text without numbers."""
        return _DIGITS.sub("#", " ".join(line.text for line in self.lines)).casefold()

    def is_small(self, body: Body) -> bool:
        return all(map(body.is_smaller, self.lines)) and not CAPTION.match(self.lines[0].text)

    def is_set_apart(self, body: Body) -> bool:
        """Whether it is small and white lies between it and the text."""
        return self.is_small(body) and self.white > 1.6 * body.leading


def without_headers_and_footers(
    pages: Sequence[Page], lines: Sequence[Sequence[Line]], body: Body
) -> list[list[Line]]:
    """Lines without running headers, footers and page numbers.

    Such a row stands near the head or foot of its page, and on another page stands the same, numbers aside, at
    the same height; or white parts it from the text, of a single page also two such rows.
    """
    dropped: set[Line] = set()
    for at_head in (True, False):
        edges = [_edge_rows(*both, at_head=at_head) for both in zip(pages, lines, strict=True)]
        same: dict[str, list[_EdgeRow]] = defaultdict(list)
        for row in chain.from_iterable(edges):
            same[row.pattern].append(row)
        for edge in edges:
            for index, row in enumerate(edge):
                others = [other for other in same[row.pattern] if other.page != row.page]
                is_repeated = any(abs(other.distance - row.distance) < _SAME_HEIGHT for other in others)
                below = edge[index + 1 : index + 2] if len(pages) == 1 and row.is_small(body) else []
                if not (is_repeated or any(other.is_set_apart(body) for other in (row, *below))):
                    break
                dropped.update(row.lines)
    return [[line for line in page_lines if line not in dropped] for page_lines in lines]


def _edge_rows(page: Page, lines: Sequence[Line], *, at_head: bool) -> list[_EdgeRow]:
    """The rows near one edge of a page, from the edge inwards."""
    rows: list[_EdgeRow] = []
    for line in sorted(lines, key=lambda line: -line.y if at_head else line.y):
        distance = page.height - line.y if at_head else line.y
        if rows and distance - rows[-1].distance < 2.0:
            rows[-1].lines.append(line)
            continue
        if rows:
            rows[-1].white = distance - rows[-1].distance
        if len(rows) == _EDGE_ROWS or distance > _EDGE * page.height:
            break
        rows.append(_EdgeRow(page.number, distance, [line]))
    return rows


def without_margins(pages: Sequence[Page], lines: Sequence[Sequence[Line]], body: Body) -> list[list[Line]]:
    """Lines without small notes in the margin (dates, licences, addresses).

    They stand wholly beside the running text of all pages, in a strip that is too narrow for a column.
    """
    result: list[list[Line]] = []
    for page, page_lines in zip(pages, lines, strict=True):
        left = [line for line in page_lines if line.x1 < body.left < math.inf]
        right = [line for line in page_lines if line.x0 > body.right > -math.inf]
        dropped: set[Line] = set()
        for side in (left, right):
            strip = [line for line in side if abs(line.size - body.size) >= 0.05 * body.size]
            if not strip:
                continue
            width = max(line.x1 for line in strip) - min(line.x0 for line in strip)
            share = sum(len(line.text) for line in strip) / sum(len(line.text) for line in page_lines)
            if width < _NARROW * page.width and share < _NARROW:
                dropped.update(strip)
        result.append([line for line in page_lines if line not in dropped])
    return result


def without_line_numbers(lines: Sequence[Line]) -> list[Line]:
    """Lines of a page without the numbers in its margin: below each other, growing by one step, outermost."""
    stacks: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if re.fullmatch(r"\d{1,4}", line.text):
            stacks[round(line.x1 / 4)].append(line)
    dropped: set[Line] = set()
    for at in list(stacks):
        stack = sorted(stacks[at] + stacks.get(at + 1, []), key=lambda line: -line.y)
        if len(stack) < _MIN_LINE_NUMBERS:
            continue
        steps = Counter(int(below.text) - int(above.text) for above, below in pairwise(stack))
        step, count = steps.most_common(1)[0]
        x0, x1 = min(line.x0 for line in stack), max(line.x1 for line in stack)
        rest = [line for line in lines if line not in stack]
        n_beyond = min(sum(line.x0 < x0 for line in rest), sum(line.x1 > x1 for line in rest))
        if step in (1, 2, 5, 10) and count >= 0.7 * (len(stack) - 1) and n_beyond <= 0.1 * len(rest):
            dropped.update(stack)
    return [line for line in lines if line not in dropped]
