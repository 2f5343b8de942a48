"""Words into lines, and lines without what belongs to the page: headers, footers, line numbers, margins."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from statistics import median
from typing import Final

from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.papers.headings import CAPTION, part_of_heading
from evidencebench_core.papers.pdf.chars import Page, Word

_BREAK: Final = 0.9  # ems; columns may stand one em apart, words stand closer
_SPACE: Final = 0.13  # ems
_ALIGNED: Final = 2.5  # points within which lines begin at the same place
_EDGE: Final = 0.18  # of the height of a page, at its head and at its foot
_EDGE_ROWS: Final = 6
_SAME_HEIGHT: Final = 6.0  # points by which the same header may stand higher or lower
_NARROW: Final = 0.26  # of a page's characters: what a margin may take
_SIDE: Final = 0.32  # of a page's width: what small print beside the abstract may take
_MIN_SIDE_LINES: Final = 4
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
        self.text = _joined_words(words)

    @property
    def page(self) -> int:
        return self.words[0].page.number


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

    def is_beside(self, line: Line) -> bool:
        return self.left < self.right and (line.x1 < self.left or line.x0 > self.right)

    def matches(self, line: Line) -> bool:
        """Whether a line is set like the running text, italics aside."""
        same_size = abs(line.size - self.size) < 0.05 * self.size
        same_font = line.font == self.font or line.italic > 0.5
        return same_size and same_font and (line.bold > 0.5) == self.is_bold


def _body_of(pages: Iterable[Iterable[Line]]) -> Body:
    """How most characters above the references look; lines come page by page from the top down."""
    lines = list(chain.from_iterable(pages))
    # In a short paper most lines are references.
    ends = [i for i, line in enumerate(lines) if part_of_heading(line.text) == "references"]
    end = ends[-1] if ends and ends[-1] > 20 else len(lines)
    styles: Counter[tuple[str, float, bool]] = Counter()
    heights: dict[tuple[int, int, float], list[float]] = defaultdict(list)
    for line in lines[:end]:
        styles[line.font, line.size, line.bold > 0.5] += len(line.text)
        heights[line.page, round(line.x0 / 3), line.size].append(line.y)
    if not styles:
        return Body()
    font, size, is_bold = styles.most_common(1)[0][0]
    steps = Counter(
        round(above - below, 1)
        for place, column in heights.items()
        for above, below in pairwise(column)
        if place[2] == size and 0.9 * size < above - below < 3.5 * size
    )
    leading = steps.most_common(1)[0][0] if steps else 1.2 * size
    body = Body(font, size, leading, is_bold)
    text = [line for line in lines if body.matches(line) and len(line.words) > 5]
    if len(text) < 20:
        return body
    outermost = len(text) // 50
    left = sorted(line.x0 for line in text)[outermost]
    right = sorted(line.x1 for line in text)[-1 - outermost]
    return Body(font, size, leading, is_bold, left, right)


def _joined_words(words: Iterable[Word]) -> str:
    parts: list[str] = []
    before: Word | None = None
    for word in words:
        if before and (word.spaced or word.x0 - before.x1 >= _SPACE * max(word.size, before.size)):
            parts.append(" ")
        parts.append(word.text)
        before = word
    return "".join(parts)


def _lines_of(page: Page) -> list[Line]:
    """Words joined that follow each other in the file and stand close, then those that stand close on the page."""
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
        words = line.words
        for other in result[:-13:-1]:
            small, large = sorted([line.size, other.size])
            gap = max(other.x0 - line.x1, line.x0 - other.x1)
            if abs(other.y - line.y) < 0.12 * large and -0.3 * large < gap < max_gap * small:
                result.remove(other)
                words = sorted([*other.words, *words], key=lambda word: word.x0)
                break
        result.append(line if words is line.words else Line(words))
    return sorted(result, key=lambda line: (-line.y, line.x0))


def groups_of(lines: Iterable[Line], belongs: Callable[[list[Line], Line], bool]) -> list[list[Line]]:
    """Lines in groups; one that does not belong to the group of those before it begins the next."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and belongs(groups[-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def aligned_lines(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines that begin at the same place, from left to right."""
    ordered = sorted(lines, key=lambda line: line.x0)
    return groups_of(ordered, lambda group, line: line.x0 - group[0].x0 < _ALIGNED)


# -- what belongs to the page ---------------------------------------------------------------------


def text_lines(pages: Sequence[Page], left_out: Counter[str]) -> tuple[list[list[Line]], Body]:
    """The lines of pages without what belongs to the page itself, which is counted, and their running text's look."""
    lines = [_without_line_numbers(_lines_of(page)) for page in pages]
    inner = _without_headers_and_footers(pages, lines, _body_of(lines))
    body = _body_of(inner)
    text = _without_margins(pages, inner, body)
    left_out["headers and footers"] = sum(map(len, lines)) - sum(map(len, inner))
    left_out["notes in the margin"] = sum(len(a) > len(b) for a, b in zip(inner, text, strict=True))
    return text, body


@dataclass(slots=True)
class _EdgeRow:
    """Lines on one baseline near the head or foot of a page."""

    page: int
    distance: float  # from the edge
    lines: list[Line]
    white: float  # to the next row, away from the edge

    def pattern(self) -> str:
        return _DIGITS.sub("#", " ".join(line.text for line in self.lines)).casefold()

    def is_set_apart(self, body: Body) -> bool:
        is_small = all(map(body.is_smaller, self.lines)) and not CAPTION.match(self.lines[0].text)
        return is_small and self.white > 1.6 * body.leading


def _without_headers_and_footers(
    pages: Sequence[Page], lines: Sequence[Sequence[Line]], body: Body
) -> list[list[Line]]:
    """Lines without rows near the edges of pages that repeat, numbers aside, or that white parts from the text."""
    dropped: set[Line] = set()
    for at_head in (True, False):
        edges = [_edge_rows(*both, at_head=at_head) for both in zip(pages, lines, strict=True)]
        same: dict[str, list[_EdgeRow]] = defaultdict(list)
        for row in chain.from_iterable(edges):
            same[row.pattern()].append(row)
        for edge in edges:
            for index, row in enumerate(edge):
                others = [other for other in same[row.pattern()] if other.page != row.page]
                is_repeated = any(abs(other.distance - row.distance) < _SAME_HEIGHT for other in others)
                nearest = edge[index : index + (2 if len(pages) == 1 else 1)]
                if not is_repeated and not any(other.is_set_apart(body) for other in nearest):
                    break
                dropped.update(row.lines)
    return [[line for line in page_lines if line not in dropped] for page_lines in lines]


def _edge_rows(page: Page, lines: Sequence[Line], *, at_head: bool) -> list[_EdgeRow]:
    """The rows near one edge of a page, from the edge inwards."""
    ordered = sorted(lines, key=lambda line: -line.y if at_head else line.y)
    rows = groups_of(ordered, lambda row, line: abs(row[0].y - line.y) < 2.0)
    distances = [page.height - row[0].y if at_head else row[0].y for row in rows]
    whites = [below - above for above, below in pairwise([*distances, math.inf])]
    edge = zip(distances, rows, whites, strict=True)
    return [_EdgeRow(page.number, *row) for row in edge if row[0] <= _EDGE * page.height][:_EDGE_ROWS]


def _without_margins(pages: Sequence[Page], lines: Sequence[Sequence[Line]], body: Body) -> list[list[Line]]:
    """Lines without small print beside the running text (dates, licences, addresses)."""
    result: list[list[Line]] = []
    for page, page_lines in zip(pages, lines, strict=True):
        dropped = _side_column(page_lines, page.width) if page.number == 0 else set()
        beside = [line for line in page_lines if body.is_smaller(line) and body.is_beside(line)]
        if any(map(body.matches, page_lines)) and _share(beside, page_lines) < _NARROW:
            dropped.update(beside)
        result.append([line for line in page_lines if line not in dropped])
    return result


def _side_column(lines: Sequence[Line], page_width: float) -> set[Line]:
    """Small print in a narrow column beside larger text, with no line across both."""
    dropped: set[Line] = set()
    for aligned in aligned_lines(lines):
        if len(aligned) < _MIN_SIDE_LINES:
            continue
        x = aligned[0].x0 - 1
        for is_across, group in groupby(lines, key=lambda line: line.x0 < x < line.x1):
            beside = [] if is_across else list(group)
            left = [line for line in beside if line.x0 < x]
            right = [line for line in beside if line.x0 >= x]
            dropped.update(_small_print(left, right, page_width), _small_print(right, left, page_width))
    return dropped


def _small_print(side: Sequence[Line], text: Sequence[Line], page_width: float) -> list[Line]:
    """Nearly all lines of a narrow column, if they are smaller than the text beside it, with headings among them."""
    usual = median(line.size for line in text) if text else 0.0
    small = [line for line in side if line.size < 0.95 * usual]
    is_narrow = width_of(side) < min(_SIDE * page_width, 0.7 * width_of(text))
    names = [class_of_heading(line.text.split()[0]) for line in side]
    has_abstract = "abstract" in names or sum(name not in (None, "other") for name in names) > 1
    if len(small) < _MIN_SIDE_LINES or not is_narrow or has_abstract:
        return []
    return [line for line in side if line.y >= small[-1].y] if _share(small, side) > 0.8 else []


def _share(part: Iterable[Line], lines: Iterable[Line]) -> float:
    """Of the characters of lines, what a part of them has."""
    return sum(len(line.text) for line in part) / max(1, sum(len(line.text) for line in lines))


def width_of(lines: Sequence[Line]) -> float:
    """From the left edge of the leftmost to the right edge of the rightmost."""
    return max((line.x1 for line in lines), default=0.0) - min((line.x0 for line in lines), default=0.0)


def _without_line_numbers(lines: Sequence[Line]) -> list[Line]:
    """Lines of a page without the numbers in its margin: below each other, growing by one step, outermost."""
    numbers = [line for line in lines if re.fullmatch(r"\d{1,4}", line.text)]
    numbers.sort(key=lambda line: line.x1)
    dropped: set[Line] = set()
    for group in groups_of(numbers, lambda group, line: line.x1 - group[0].x1 < 4):
        stack = sorted(group, key=lambda line: -line.y)
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
