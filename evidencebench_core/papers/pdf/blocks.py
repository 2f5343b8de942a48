"""Tables and figures taken off a page, and the rest of its lines in blocks of one look."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import Final

from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.papers.headings import CAPTION, is_aside, part_of_heading
from evidencebench_core.papers.pdf.chars import Page
from evidencebench_core.papers.pdf.columns import Column, Gutter
from evidencebench_core.papers.pdf.lines import Body, Line, groups_of, width_of

BULLET: Final = re.compile(r"[•▪■●◦‣▸►\ufffd\s]+|<\s(?=[^\W\d])")  # of a list
_AFTER_LABEL: Final = re.compile(r"\s*(?:[.:|–—-]|$)")
_CONTINUED: Final = re.compile(r"(?:^\W*|[(,;–—-]\s*)cont(?:inued|['’]?d\b|\.)(?! on)", re.IGNORECASE)
_MARGIN: Final = 36.0  # points of a page above and below all text
_ITEM: Final = re.compile(r"\[?\d{1,3}[.)\]]\s")  # of a list, or a reference
_SENTENCE_END: Final = re.compile(r"[.?!:;][\"'”’)\]]*(?:\[?\d[\d,–\-\]\[ ]*)?[*†‡§]*$")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|figs?|vs|cf|approx|dr|drs|no|nos|ca|resp|st|eqs?|refs?)|\b[A-Z])\.$", re.I
)

_Row = list[Line]  # on one baseline, from left to right


def without_floats(
    page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
) -> tuple[list[Line], list[PrintedFloat]]:
    """Lines of a page without tables, figures and captions, and these.

    A table goes on to the last of its rules, or while rows have wide gaps or small letters, below its caption or
    else above it; a figure is all beside the caption that does not look like running text.
    """
    rest = list(lines)
    floats: list[PrintedFloat] = []
    for line in lines:  # from the top down
        label = CAPTION.match(line.text)
        if label is not None and line in rest and _is_caption(line, label["rest"], lines, body):
            printed = PrintedFloat(line, page, rest, gutters, body)
            beside = [other for other in floats if other.x0 < printed.x1 and printed.x0 < other.x1]
            printed.top = min([printed.top, *(other.foot for other in beside if other.foot > line.y)])
            floats.append(printed)
            dropped = set(printed.lines)
            rest = [other for other in rest if other not in dropped]
    return rest, floats


def _is_caption(line: Line, rest: str, lines: Sequence[Line], body: Body) -> bool:
    above = [o.y for o in lines if o.y > line.y + 1 and o.x0 < line.x1 and o.x1 > line.x0 and body.matches(o)]
    is_apart = min(above, default=math.inf) - line.y > 1.25 * body.leading
    is_marked = line.words[0].bold != body.is_bold or not body.matches(line)
    begins = _AFTER_LABEL.match(rest) or _CONTINUED.match(rest) or rest.lstrip()[:1].isupper()
    return bool(begins and is_apart) or (is_marked and bool(begins or line.words[0].bold))


class PrintedFloat:
    """A table or figure: its caption, and the rows above and below it in its width."""

    def __init__(
        self, first: Line, page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
    ) -> None:
        self.first, self.page, self.body = first, page, body
        label = CAPTION.match(first.text)
        self.kind = "tables" if label and label["tables"] else "figures"
        self.x0, self.x1 = self._extent(lines, gutters)
        within = [line for line in lines if line is first or (self.x0 <= line.x0 and line.x1 <= self.x1)]
        rows = groups_of(within, lambda row, line: row[0].y - line.y < 2)
        start = next(i for i, row in enumerate(rows) if first in row)
        end = self._end_of_caption(rows, start)
        self.caption = [line for row in rows[start:end] for line in sorted(row, key=lambda line: line.x0)]
        self.is_continued = label is not None and _CONTINUED.search(label["rest"]) is not None
        above, below = rows[:start][::-1], rows[end:]
        n_below = self._n_rows(below, 1)
        n_above = 0 if self.kind == "tables" and n_below else self._n_rows(above, -1)
        parts = [*above[:n_above], *rows[start:end], *below[:n_below]]
        self.lines = [line for row in parts for line in row]
        self.top = max(line.y + line.size for line in self.lines)
        self.foot = min(line.y - 0.3 * line.size for line in self.lines)
        if self.kind == "figures":  # the picture fills the white
            self.top = above[n_above][0].y - 0.3 * body.size if above[n_above:] else page.height - _MARGIN
            if self.top - first.y < 3 * body.leading:
                self.foot = below[n_below][0].y + body.size if below[n_below:] else _MARGIN

    def _n_rows(self, rows: Sequence[_Row], down: int) -> int:
        """How many of the rows below the caption (``down`` is 1) or above it (-1) are of the float."""
        n_ruled = self._n_ruled(rows, down) if self.kind == "tables" else 0
        return n_ruled + sum(1 for _ in takewhile(self._is_no_text, rows[n_ruled:]))

    def _extent(self, lines: Sequence[Line], gutters: Sequence[Gutter]) -> tuple[float, float]:
        """As wide as the columns that its caption, or a rule or text next to it, goes across."""
        line = self.first
        left = min(self.body.left, *(other.x0 for other in lines)) - 1
        right = max(self.body.right, *(other.x1 for other in lines)) + 1
        edges = [left, *(gutter.middle for gutter in gutters), right]
        x0 = max(edge for edge in edges if edge <= line.x0)
        x1 = min(edge for edge in edges if edge >= line.x1)
        ends = [
            rule.x1
            for rule in self.page.rules
            if -6 * line.size < rule.y - line.y < 2.5 * line.size and x0 - 20 < rule.x0 <= line.x0 + 5
        ]
        y = line.y
        for other in lines:
            is_near = -2 < y - other.y < 1.6 * line.size and x0 <= other.x0 < x1
            if is_near and not self.body.matches(other):
                ends.append(other.x1)
                y = min(y, other.y)
        end = max(ends, default=x1)
        return x0, x1 if end <= x1 + 20 else next((edge for edge in edges if edge > end - 20), end + 1)

    def _end_of_caption(self, rows: Sequence[_Row], start: int) -> int:
        """Index of the row below the caption's last one."""
        step = 1.45 * self.first.size
        for index in range(start + 1, len(rows)):
            row, gap = rows[index], rows[index - 1][0].y - rows[index][0].y
            if gap > 1.25 * step or _is_tabular(row) or abs(_size(row) - self.first.size) > 0.06 * _size(row):
                return index
            step = gap
        return len(rows)

    def _n_ruled(self, rows: Sequence[_Row], down: int) -> int:
        """How many rows stand within a table's outermost rule; three rows of running text end it."""

        def distance(y: float) -> float:
            return down * (self.first.y - y)

        triples = zip(rows, rows[1:], rows[2:], strict=False)
        end = next(
            (distance(three[0][0].y) for three in triples if all(map(self._is_prose, three))), math.inf
        )
        rules = [
            rule
            for rule in self.page.rules
            if 0 < distance(rule.y) < end and self.x0 - 12 < rule.x0 and rule.x1 < self.x1 + 12
        ]
        widest = max((rule.x1 - rule.x0 for rule in rules), default=0.0)
        wide = [distance(rule.y) for rule in rules if rule.x1 - rule.x0 > 0.6 * widest]
        if len(wide) < (1 if down > 0 else 2):
            return 0
        return sum(distance(row[0].y) < max(wide) + 1 for row in rows)

    def _is_no_text(self, row: _Row) -> bool:
        """Whether a row is cells, notes, labels of axes or a legend."""
        body = self.body
        if class_of_heading(" ".join(line.text for line in row)) and not all(map(body.is_smaller, row)):
            return False
        if CAPTION.match(row[0].text):
            return False
        if _is_tabular(row) or all(map(body.is_smaller, row)):
            return not any(body.matches(line) and len(line.words) > 4 for line in row)
        is_long = width_of(row) > 0.6 * (self.x1 - self.x0) and len(row[0].words) > 7
        is_bold = all(o.bold > 0.9 and o.size >= 0.98 * body.size and len(o.text) > 3 for o in row)
        return not (is_long or is_bold or any(map(body.matches, row)))

    def _is_prose(self, row: _Row) -> bool:
        is_wide = width_of(row) > 0.6 * (self.x1 - self.x0)
        return is_wide and not _is_tabular(row) and all(map(self.body.matches, row))


def _size(row: _Row) -> float:
    return max(line.size for line in row)


def _is_tabular(row: _Row) -> bool:
    """Whether it has wide gaps, as cells have."""
    ordered = sorted(row, key=lambda line: line.x0)
    gaps = [right.x0 - left.x1 for left, right in pairwise(ordered)]
    return len(gaps) > 1 or any(gap > 1.6 * _size(row) for gap in gaps)


# -- blocks of lines ------------------------------------------------------------------------------


class TextBlock:
    """Consecutive lines of one column with the same look."""

    def __init__(self, lines: list[Line], column: Column, body: Body) -> None:
        self.lines, self.column = lines, column
        self.page = lines[0].page
        self.is_last = lines[-1] is column[-1]
        index = column.index(lines[0])
        white = column[index - 1].y - lines[0].y if index else math.inf
        self.gap = white / body.leading  # above it, in lines of the running text
        self.text = " ".join(line.text for line in lines).strip()
        self.size = max(line.size for line in lines)
        words = [word for line in lines for word in line.words]
        self.n_words = len(words)
        self.largest = max(word.size for word in words)  # of small capitals the size of the capitals
        whole = Line(words)
        self.bold, self.italic = whole.bold, whole.italic
        starts = Counter(round(line.x0) for line in lines[1:] or lines)
        self.left = float(min(starts, key=lambda x: (-starts[x], x)))  # the first line may be indented


def ends_sentence(text: str) -> bool:
    """Whether a text ends as sentences do, unlike "et al.", closing brackets and citations aside."""
    return _SENTENCE_END.search(text) is not None and _ABBREVIATION.search(text) is None


def blocks_of(columns: Iterable[Column], body: Body) -> list[TextBlock]:
    """The lines of columns, grouped where white, size or weight change."""
    blocks: list[TextBlock] = []
    for column in columns:
        groups = [column[:1]]
        step = 0.0
        for above, line in pairwise(column):
            gap = above.y - line.y
            usual = step or body.leading * max(line.size, above.size) / body.size
            if gap > 1.28 * usual or _are_apart(above, line, body):
                groups.append([line])
                step = 0.0
            else:
                groups[-1].append(line)
                step = gap if gap > 0.8 * line.size else step
        blocks += [TextBlock(lines, column, body) for lines in groups]
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
    """The paragraphs of a block: indented or outdented, below a line that ends early, items and references."""
    left, right = block.left, max(line.x1 for line in block.column)

    def goes_on(paragraph: list[Line], line: Line) -> bool:
        above = paragraph[-1]
        indent = line.x0 - left
        is_indented = 0.7 * line.size < indent < 6 * line.size and abs(above.x0 - line.x0) > 0.5 * line.size
        is_early = right - above.x1 > 0.15 * (right - left)
        is_number = above.text[-1].isdigit() and line.text[0].islower()  # "0.5", and "mg" below it
        is_whole = ends_sentence(above.text) and not is_number
        is_item = _ITEM.match(line.text) is not None and (is_early or is_whole)
        is_outdented = left - line.x0 > 0.7 * line.size
        begins = is_item or is_outdented or BULLET.match(line.text)
        return not (begins or (is_whole and (is_indented or is_early)))

    return groups_of(block.lines, goes_on)
