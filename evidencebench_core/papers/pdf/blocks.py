"""Tables and figures taken off a page, and the rest of its lines in blocks of one look."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import Final

from evidencebench_core.data.sections import CAPTION, class_of_heading, is_aside, part_of_heading
from evidencebench_core.papers.pdf.chars import Page
from evidencebench_core.papers.pdf.columns import Column, Gutter
from evidencebench_core.papers.pdf.lines import Body, Line

BULLETS: Final = "•▪■●◦‣ \ufffd"  # of lists
_AFTER_LABEL: Final = re.compile(r"\s*(?:[.:|–—-]|$)")
_SENTENCE_END: Final = re.compile(r"[.?!:;][\"'”’)\]]*(?:\[?\d[\d,–\-\]\[ ]*)?[*†‡§]*$")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|figs?|vs|cf|approx|dr|drs|no|nos|ca|resp|st|eqs?|refs?)|\b[A-Z])\.$", re.I
)

_Row = list[Line]  # on one baseline, from left to right


def without_floats(
    page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
) -> tuple[list[Line], Counter[str]]:
    """Lines of a page without tables, figures and captions, and how many there were of each.

    A caption is a line that begins with "Table 1" or "Fig. 2" and stands apart from the text above it, by
    white or by its font. A table goes on below its caption to the last of its rules, or while rows have wide gaps
    or small letters; a table whose caption stands below it, and a figure, are all beside the caption that does
    not look like running text.
    """
    dropped: set[Line] = set()
    counts: Counter[str] = Counter()
    for line in sorted(lines, key=lambda line: -line.y):
        label = CAPTION.match(line.text)
        if label is None or line in dropped or not _is_caption(line, label["rest"], lines, body):
            continue
        kind = "tables" if label["tables"] else "figures"
        counts[kind] += not line.text.lower().rstrip(" .)").endswith(("continued", "cont"))
        rest = [other for other in lines if other not in dropped]
        dropped.update(_Float(line, page, rest, gutters, body).lines(is_table=kind == "tables"))
    return [line for line in lines if line not in dropped], counts


def _is_caption(line: Line, rest: str, lines: Sequence[Line], body: Body) -> bool:
    above = [o.y for o in lines if o.y > line.y + 1 and o.x0 < line.x1 and o.x1 > line.x0]
    is_apart = min(above, default=math.inf) - line.y > 1.25 * body.leading
    is_marked = line.words[0].bold != body.is_bold or not body.matches(line)
    begins = _AFTER_LABEL.match(rest) is not None or rest.lstrip()[:1].isupper()
    return (begins and is_apart) or (is_marked and (begins or line.words[0].bold))


class _Float:
    """A table or figure: its caption, and the rows above and below it in its width."""

    def __init__(
        self, first: Line, page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
    ) -> None:
        self.first, self.rules, self.body = first, page.rules, body
        self.x0, self.x1 = self._extent(lines, gutters)
        self.rows: list[_Row] = []
        for line in sorted(lines, key=lambda line: -line.y):
            if line is not first and (line.x0 < self.x0 or line.x1 > self.x1):
                continue
            if self.rows and self.rows[-1][0].y - line.y < 2:
                self.rows[-1].append(line)
            else:
                self.rows.append([line])

    def lines(self, *, is_table: bool) -> list[Line]:
        """All lines of it."""
        start = next(i for i, row in enumerate(self.rows) if self.first in row)
        end = self._end_of_caption(start)
        above, below = self.rows[:start][::-1], self.rows[end:]
        n_ruled = self._n_ruled(below) if is_table else 0
        rows = [*below[:n_ruled], *takewhile(self._is_no_text, below[n_ruled:])]
        if not is_table or not rows:
            rows += takewhile(self._is_no_text, above)
        return [line for row in self.rows[start:end] + rows for line in row]

    def _extent(self, lines: Sequence[Line], gutters: Sequence[Gutter]) -> tuple[float, float]:
        """As wide as the caption's column, or as a rule or text next to it that goes across."""
        line = self.first
        left = min(self.body.left, *(other.x0 for other in lines)) - 1
        right = max(self.body.right, *(other.x1 for other in lines)) + 1
        edges = [left, *(gutter.middle for gutter in gutters), right]
        x0 = max(edge for edge in edges if edge <= line.x0)
        x1 = min(edge for edge in edges if edge >= line.x1)
        near = [
            rule.x1
            for rule in self.rules
            if -6 * line.size < rule.y - line.y < 2.5 * line.size and x0 - 20 < rule.x0 <= line.x0 + 5
        ]
        end = max(near, default=x1)
        return x0, x1 if end <= x1 + 20 else next((edge for edge in edges if edge > end - 20), end + 1)

    def _end_of_caption(self, start: int) -> int:
        """Index of the row below the caption's last one."""
        step = 1.45 * self.first.size
        for index in range(start + 1, len(self.rows)):
            row, gap = self.rows[index], self.rows[index - 1][0].y - self.rows[index][0].y
            if gap > 1.25 * step or _is_tabular(row) or abs(_size(row) - self.first.size) > 0.06 * _size(row):
                return index
            step = gap
        return len(self.rows)

    def _n_ruled(self, below: Sequence[_Row]) -> int:
        """How many rows stand above a table's lowest rule; three rows of running text end it."""
        triples = zip(below, below[1:], below[2:], strict=False)
        end = next((rows[0][0].y for rows in triples if all(map(self._is_prose, rows))), 0.0)
        rules = [
            rule
            for rule in self.rules
            if end < rule.y < self.first.y and self.x0 - 6 < rule.x0 and rule.x1 < self.x1 + 6
        ]
        widest = max((rule.x1 - rule.x0 for rule in rules), default=0.0)
        foot = min((rule.y for rule in rules if rule.x1 - rule.x0 > 0.6 * widest), default=math.inf)
        return sum(row[0].y > foot - 1 for row in below)

    def _is_no_text(self, row: _Row) -> bool:
        """Whether a row is cells, notes, labels of axes or a legend."""
        body = self.body
        if class_of_heading(" ".join(line.text for line in row)) and not all(map(body.is_smaller, row)):
            return False
        if CAPTION.match(row[0].text):
            return False
        if _is_tabular(row) or all(map(body.is_smaller, row)):
            return not any(body.matches(line) and len(line.words) > 4 for line in row)
        is_long = _width(row) > 0.6 * (self.x1 - self.x0) and len(row[0].words) > 7
        is_bold = all(o.bold > 0.9 and o.size >= 0.98 * body.size and len(o.text) > 3 for o in row)
        return not (is_long or is_bold or any(map(body.matches, row)))

    def _is_prose(self, row: _Row) -> bool:
        is_wide = _width(row) > 0.6 * (self.x1 - self.x0)
        return is_wide and not _is_tabular(row) and all(map(self.body.matches, row))


def _size(row: _Row) -> float:
    return max(line.size for line in row)


def _width(row: _Row) -> float:
    return max(line.x1 for line in row) - min(line.x0 for line in row)


def _is_tabular(row: _Row) -> bool:
    """Whether it has wide gaps, as cells have."""
    ordered = sorted(row, key=lambda line: line.x0)
    gaps = [right.x0 - left.x1 for left, right in pairwise(ordered)]
    return len(gaps) > 1 or any(gap > 1.6 * _size(row) for gap in gaps)


# -- blocks of lines ------------------------------------------------------------------------------


class TextBlock:
    """Consecutive lines of one column with the same look."""

    def __init__(self, lines: list[Line], column: Column, gap: float, *, is_last: bool) -> None:
        self.lines, self.column, self.is_last = lines, column, is_last
        self.gap = gap  # above it, in lines of the running text
        self.text = " ".join(line.text for line in lines).strip()
        self.size = max(line.size for line in lines)
        words = [word for line in lines for word in line.words]
        self.n_words = len(words)
        self.largest = max(word.size for word in words)  # of small capitals the size of the capitals
        look = Line(words)
        self.bold, self.italic = look.bold, look.italic
        starts = Counter(round(line.x0) for line in lines[1:] or lines)
        self.left = float(min(starts, key=lambda x: (-starts[x], x)))  # the first line may be indented

    @property
    def page(self) -> int:
        return self.column.page


def ends_sentence(text: str) -> bool:
    """Whether a text ends as sentences do, closing brackets and citations aside."""
    return _SENTENCE_END.search(text) is not None


def ends_abbreviated(text: str) -> bool:
    """Whether a text ends with "et al." or the like, which ends no sentence."""
    return _ABBREVIATION.search(text) is not None


def blocks_of(columns: Iterable[Column], body: Body) -> list[TextBlock]:
    """The lines of columns, grouped where white, size or weight change."""
    blocks: list[TextBlock] = []
    for column in columns:
        groups: list[tuple[list[Line], float]] = []
        step = 0.0
        for above, line in pairwise([None, *column.lines]):
            assert line is not None  # noqa: S101 - only the first of the pairs is none
            gap = above.y - line.y if above else 1e3
            usual = step or body.leading * max(line.size, above.size if above else 0.0) / body.size
            if above is None or gap > 1.28 * usual or _are_apart(above, line, body):
                groups.append(([line], gap / body.leading))
                step = 0.0
            else:
                groups[-1][0].append(line)
                step = gap if gap > 0.8 * line.size else step
        for lines, gap in groups:
            blocks.append(TextBlock(lines, column, gap, is_last=lines is groups[-1][0]))
    return blocks


def _are_apart(above: Line, line: Line, body: Body) -> bool:
    """Whether two lines cannot be of one paragraph or heading."""
    is_short = len(above.words) <= 14
    if abs(above.size - line.size) > 0.06 * max(above.size, line.size):
        return True
    if line.page < 2 and is_aside(line.text):
        return True
    if _names_section(line, body) or _names_section(above, body):
        return True
    if (above.bold > 0.9) != (line.bold > 0.9):
        # Where one of them is mixed, bold words begin or end within a paragraph.
        ends = above.bold < 0.1 or ends_sentence(above.text) or is_short
        return min(above.bold, line.bold) < 0.1 and ends
    is_slanted = (above.italic > 0.9) != (line.italic > 0.9) and min(above.italic, line.italic) < 0.1
    return is_slanted and is_short


def _names_section(line: Line, body: Body) -> bool:
    """Whether a line is "References", "Methods" or the like, set unlike the running text."""
    text = line.text.strip()
    if len(line.words) > 4 or text.endswith(".") or (body.matches(line) and not text.isupper()):
        return False
    return class_of_heading(text) is not None or part_of_heading(text) == "references"


def paragraphs_of(block: TextBlock) -> Sequence[list[Line]]:
    """The paragraphs of a block of running text.

    A new one begins at an indented line, or below a line that ends early, if the text before ends a sentence.
    """
    left, right = block.left, block.column.x1
    paragraphs: list[list[Line]] = [[block.lines[0]]]
    for above, line in pairwise(block.lines):
        indent = line.x0 - left
        is_indented = 0.7 * line.size < indent < 6 * line.size and abs(above.x0 - line.x0) > 0.5 * line.size
        is_early = right - above.x1 > 0.15 * (right - left)
        is_whole = ends_sentence(above.text) and not ends_abbreviated(above.text)
        if (is_whole and (is_indented or is_early)) or line.text[0] in BULLETS:
            paragraphs.append([line])
        else:
            paragraphs[-1].append(line)
    return paragraphs
