"""Tables and figures with their captions, taken off a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from evidencebench_core.data.sections import CAPTION, class_of_heading
from evidencebench_core.papers.pdf.chars import Page
from evidencebench_core.papers.pdf.columns import Gutter
from evidencebench_core.papers.pdf.lines import Body, Line

_AFTER_LABEL: Final = re.compile(r"\s*(?:[.:|–—-]|$)")
_IN_SENTENCE: Final = re.compile(r"\s*[,;)]|\s+(?:and|or|to|in|of)\b")

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
    if _IN_SENTENCE.match(rest):
        return False
    is_marked = line.words[0].bold != body.is_bold or not body.matches(line)
    above = [o for o in lines if o.y > line.y + 1 and o.x0 < line.x1 and o.x1 > line.x0]
    nearest = min(above, key=lambda other: other.y, default=None)
    is_apart = nearest is None or (
        nearest.y - line.y > 1.25 * body.leading
        and (nearest.text.rstrip().endswith((".", "?", "!", ":")) or not body.matches(nearest))
    )
    if _AFTER_LABEL.match(rest):
        return is_marked or is_apart
    begins = rest.lstrip()[:1].isupper()
    return (is_marked and (line.words[0].bold or begins)) or (is_apart and begins)


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
        foot = self._lowest_rule(below) if is_table else self.first.y
        within = [row for row in below if row[0].y > foot - 1]
        rows = within + list(takewhile(self._is_no_text, below[len(within) :]))
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
        near += [o.x1 for o in lines if 0 <= line.y - o.y < 2.5 * line.size and o.x0 <= min(line.x1, x1)]
        end = max(near, default=x1)
        return x0, x1 if end <= x1 + 20 else next((edge for edge in edges if edge > end - 20), end + 1)

    def _end_of_caption(self, start: int) -> int:
        """Index of the row below the caption's last one."""
        first, step = self.first, 1.45 * self.first.size
        for index in range(start + 1, len(self.rows)):
            row, gap = self.rows[index], self.rows[index - 1][0].y - self.rows[index][0].y
            is_text = index > start + 1 and not self.body.matches(first) and all(map(self.body.matches, row))
            other_size = abs(_size(row) - first.size) > 0.06 * first.size
            if gap > 1.25 * step or _is_tabular(row) or other_size or is_text:
                return index
            step = gap
        return len(self.rows)

    def _lowest_rule(self, below: Sequence[_Row]) -> float:
        """The height of a table's lowest rule above the running text; that of its caption without rules."""
        triples = zip(below, below[1:], below[2:], strict=False)
        texts = (rows[0][0].y for rows in triples if all(map(self._is_prose, rows)))
        end, top = next(texts, 0.0), self.first.y
        rules = [
            rule
            for rule in self.rules
            if end < rule.y < top + 20 and self.x0 - 6 < rule.x0 and rule.x1 < self.x1 + 6
        ]
        widest = max((rule.x1 - rule.x0 for rule in rules), default=0.0)
        return min(
            (rule.y for rule in rules if rule.x1 - rule.x0 > 0.6 * widest and rule.y < top), default=top
        )

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
