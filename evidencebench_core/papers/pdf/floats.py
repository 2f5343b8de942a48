"""Tables and figures with their captions: found on a page, taken out, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile, zip_longest
from typing import Final

from evidencebench_core.data.sections import CAPTION, class_of_heading
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.columns import Gutter
from evidencebench_core.papers.pdf.page import Line, Page, Rule

_MARKED_OFF: Final = re.compile(r"\s*(?:[.:|–—-]|$)")


@dataclass(slots=True)
class _Row:
    """The words on one baseline within a float's width."""

    lines: list[Line]

    @property
    def y(self) -> float:
        return self.lines[0].y

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def width(self) -> float:
        return max(line.x1 for line in self.lines) - min(line.x0 for line in self.lines)

    def is_tabular(self) -> bool:
        """Whether it has wide gaps, as cells have."""
        ordered = sorted(self.lines, key=lambda line: line.x0)
        gaps = [b.x0 - a.x1 for a, b in pairwise(ordered)]
        return len(gaps) > 1 or any(gap > 1.6 * self.size for gap in gaps)

    def is_prose(self, body: Body, width: float) -> bool:
        """Whether it looks like a line of running text."""
        return (
            not self.is_tabular()
            and all(body.looks(line) for line in self.lines)
            and self.width > 0.6 * width
        )

    def has_small_capitals(self, body: Body) -> bool:
        return all(line.text.isupper() for line in self.lines) and any(
            word.size > 0.98 * body.size and word.size > 1.1 * line.size
            for line in self.lines
            for word in line.words
        )

    def is_heading(self, body: Body) -> bool:
        text = " ".join(line.text for line in self.lines)
        return class_of_heading(text) is not None and not all(body.smaller(line) for line in self.lines)


def without_floats(
    page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
) -> tuple[list[Line], Counter[str]]:
    """Lines of a page without tables, figures and captions.

    A caption is a line that begins with "Table 1" or "Fig. 2" and stands apart from the text above it, by
    white or by its font. A table goes on below its caption to the last of its rules, or while rows
    have wide gaps or small letters. What belongs to a figure is text in other fonts than the running text's.
    """
    out: set[Line] = set()
    counts: Counter[str] = Counter()
    for line in sorted(lines, key=lambda line: -line.y):
        label = CAPTION.match(line.text)
        if label is None or line in out or not _is_caption(line, label["rest"], lines, gutters, body):
            continue
        kind = "tables" if label["tables"] else "figures"
        counts[kind] += not line.text.lower().rstrip(" .)").endswith(("continued", "cont"))
        out.update(_Float(line, page, lines, gutters, body, out).parts(is_table=kind == "tables"))
    return [line for line in lines if line not in out], counts


def _is_caption(line: Line, rest: str, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body) -> bool:
    if re.match(r"\s*[,;)]", rest) or re.match(r"\s+(?:and|or|to|in|of)\b", rest):
        return False
    own = _column_of(line, gutters)
    column = [other for other in lines if other is not line and _column_of(other, gutters) in (own, None)]
    if any(abs(o.y - line.y) < 2 and 0 < line.x0 - o.x1 < 4 * line.size for o in column):
        return False  # within a line
    marked = line.words[0].bold != body.bold or not body.looks(line)
    above = [o.y - line.y for o in column if o.y - line.y > 1 and o.x0 < line.x1 and o.x1 > line.x0]
    apart = min(above, default=1000.0) > 1.25 * body.leading
    if _MARKED_OFF.match(rest):
        return marked or apart
    begins = rest.lstrip()[:1].isupper()
    return (marked and (line.words[0].bold or line.text.isupper() or begins)) or (apart and begins)


def _column_of(line: Line, gutters: Sequence[Gutter]) -> int | None:
    """Which column a line stands in; None across columns."""
    if any(line.x0 < gutter.middle < line.x1 for gutter in gutters):
        return None
    return sum(gutter.middle <= line.x0 for gutter in gutters)


class _Float:
    """A table or figure: its caption, and the rows above and below it in its width."""

    def __init__(
        self, first: Line, page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body,
        out: Collection[Line],
    ) -> None:  # fmt: skip
        self.first, self.page, self.body = first, page, body
        self.x0, self.x1 = self._extent(lines, gutters)
        own = [line for line in lines if line is first or (line.x0 >= self.x0 and line.x1 <= self.x1)]
        self.rows: list[_Row] = []
        for line in sorted((line for line in own if line not in out), key=lambda line: -line.y):
            if self.rows and self.rows[-1].y - line.y < 2:
                self.rows[-1].lines.append(line)
            else:
                self.rows.append(_Row([line]))

    def parts(self, *, is_table: bool) -> Iterator[Line]:
        """All lines of it."""
        caption = self._caption(self.page.rules if is_table else ())
        below = [row for row in self.rows if row.y < caption[-1].y - 1]
        above = [row for row in reversed(self.rows) if row.y > self.first.y + 1]
        if is_table:
            rows = self._table(caption, below) or self._table_above(above)
        else:
            rows = self._figure(above) + self._figure(below)
        for row in (*caption, *rows):
            yield from row.lines

    def _extent(self, lines: Sequence[Line], gutters: Sequence[Gutter]) -> tuple[float, float]:
        """As wide as the caption's column, or as a rule or text next to it that goes across."""
        line = self.first
        left = min(self.body.left, *(other.x0 for other in lines)) - 1
        right = max(self.body.right, *(other.x1 for other in lines)) + 1
        edges = [left, *(gutter.middle for gutter in gutters), right]
        x0 = max(edge for edge in edges if edge <= line.x0)
        x1 = min(edge for edge in edges if edge >= line.x1)
        near = [
            (rule.x0, rule.x1)
            for rule in self.page.rules
            if -6 * line.size < rule.y - line.y < 2.5 * line.size and x0 - 20 < rule.x0 <= line.x0 + 5
        ]
        near += [(o.x0, o.x1) for o in lines if 0 <= line.y - o.y < 2.5 * line.size and o.x0 <= line.x1]
        for start, end in near:
            if start < x1 and end > x1 + 20:
                x1 = next((edge for edge in edges if edge > end - 20), end + 1)
        return x0, x1

    def _caption(self, rules: Sequence[Rule]) -> list[_Row]:
        first = self.first
        start = next(i for i, row in enumerate(self.rows) if first in row.lines)
        taken = [self.rows[start]]
        step = 0.0
        for row in self.rows[start + 1 :]:
            gap = taken[-1].y - row.y
            usual = step or 1.45 * first.size
            ruled = any(
                row.y + 0.5 * row.size < rule.y < taken[-1].y and rule.x1 > first.x0 for rule in rules
            )
            other_size = abs(row.size - first.size) > 0.06 * first.size
            if gap > 1.25 * usual or ruled or row.is_tabular() or other_size:
                break
            if not self.body.looks(first) and len(taken) > 1 and all(map(self.body.looks, row.lines)):
                break
            if step and gap > 1.12 * step and self.body.looks(first):
                break
            step = step or gap
            taken.append(row)
        return taken

    def _table(self, caption: Sequence[_Row], below: Sequence[_Row]) -> list[_Row]:
        """Rows of a table under its caption, with the notes under it."""
        body, width = self.body, self.x1 - self.x0
        foot = self._last_rule(caption, below)
        taken = [row for row in below if foot is not None and row.y > foot - 1]
        last = min(taken[-1].y, foot) if taken and foot is not None else caption[-1].y
        rest = below[len(taken) :]
        for row, following in zip_longest(rest, rest[1:]):
            small = all(map(body.smaller, row.lines))
            near = last - row.y < (2.0 if foot is not None else 2.6) * max(body.leading, row.size)
            cells = foot is None and (row.is_tabular() or row.width < 0.6 * width)
            prose = row.is_prose(body, width) or (
                following is not None
                and following.is_prose(body, width)
                and not row.is_tabular()
                and not small
            )
            captioned = CAPTION.match(row.lines[0].text)
            if not near or row.is_heading(body) or captioned or prose or not (small or cells):
                break
            taken.append(row)
            last = row.y
        return taken

    def _table_above(self, above: Sequence[_Row]) -> list[_Row]:
        """Rows of a table whose caption stands below it: those under its highest rule, as far as they are no prose."""
        line, body = self.first, self.body
        own = [r.y for r in self.page.rules if r.x0 < line.x1 and r.x1 > line.x0 and r.y > line.y]
        if not own or min(own) - line.y > 3 * body.leading:
            return []
        taken: list[_Row] = []
        for row in above:
            prose = not row.is_tabular() and all(body.looks(o) and len(o.words) > 7 for o in row.lines)
            if row.y > max(own) or prose or row.is_heading(body):
                break
            taken.append(row)
        return taken

    def _last_rule(self, caption: Sequence[_Row], below: Sequence[_Row]) -> float | None:
        """The height of a table's lowest rule, or None for a table without rules."""
        highest = caption[0].y + 2.5 * self.body.leading
        within = [r for r in self.page.rules if r.x0 > self.x0 - 6 and r.x1 < self.x1 + 6 and r.y < highest]
        widest = max((rule.x1 - rule.x0 for rule in within), default=0.0)
        own = sorted((rule.y for rule in within if rule.x1 - rule.x0 > 0.6 * widest), reverse=True)
        if not own or caption[-1].y - own[0] > 3 * self.body.leading:
            return None
        last: float | None = None
        before = caption[-1].y
        for y in own:
            between = [row for row in below if y < row.y < before]
            n_prose = sum(row.is_prose(self.body, self.x1 - self.x0) for row in between)
            if n_prose >= 3 and n_prose > 0.5 * len(between):
                break
            if y < caption[-1].y:
                last = before = y
        return last

    def _figure(self, rows: Sequence[_Row]) -> list[_Row]:
        """Rows of a figure, going away from its caption: labels of axes, legends, panel letters."""
        body = self.body

        def ends(row: _Row) -> bool:
            prose = not row.is_tabular() and row.width > 0.6 * (self.x1 - self.x0)
            bold = all(o.bold > 0.9 and o.size >= 0.98 * body.size and len(o.text) > 3 for o in row.lines)
            return (
                row.is_heading(body)
                or any(map(body.looks, row.lines))
                or row.has_small_capitals(body)
                or (prose and len(row.lines[0].words) > 7)
                or bold  # a heading
            )

        return list(takewhile(lambda row: not ends(row), rows))
