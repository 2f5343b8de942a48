"""Tables and figures with their captions: found on a page, taken out, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evidencebench_core.data.sections import CAPTION, class_of_heading
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.columns import Gutter
from evidencebench_core.papers.pdf.line import Line
from evidencebench_core.papers.pdf.page import Page, Rule

_MARKED_OFF: Final = re.compile(r"\s*(?:[.:|–—-]|$)")


@dataclass(slots=True)
class _Row:
    """What stands on one baseline within a float's width."""

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
    out: set[int] = set()
    counts: Counter[str] = Counter()
    for line in sorted(lines, key=lambda line: -line.y):
        label = CAPTION.match(line.text)
        if label is None or id(line) in out or not _is_caption(line, label, lines, gutters, body):
            continue
        kind = "tables" if label["tables"] else "figures"
        counts[kind] += not line.text.lower().rstrip(" .)").endswith(("continued", "cont"))
        x0, x1 = _extent(line, page, lines, gutters, body)
        own = [other for other in lines if other is line or (other.x0 >= x0 and other.x1 <= x1)]
        rows = _rows(own, out)
        caption = _caption_rows(line, rows, page.rules if kind == "tables" else (), body)
        taken = list(caption)
        below = [row for row in rows if row.y < caption[-1].y - 1]
        above = [row for row in reversed(rows) if row.y > line.y + 1]
        if kind == "tables":
            found = _table_rows(caption, below, page.rules, (x0, x1), body)
            taken += found or _table_rows_above(line, above, page.rules, body)
        else:
            taken += _figure_rows(above, body, x1 - x0) + _figure_rows(below, body, x1 - x0)
        out.update(id(part) for row in taken for part in row.lines)
    return [line for line in lines if id(line) not in out], counts


def _is_caption(
    line: Line, label: re.Match[str], lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
) -> bool:
    rest = label["rest"]
    if re.match(r"\s*[,;)]", rest) or re.match(r"\s+(?:and|or|to|in|of)\b", rest):
        return False
    own = _column_of(line, gutters)
    column = [other for other in lines if other is not line and _column_of(other, gutters) in (own, None)]
    beside = [o for o in column if abs(o.y - line.y) < 2 and 0 < line.x0 - o.x1 < 4 * line.size]
    if beside:
        return False  # within a line
    marked = line.words[0].bold != body.bold or not body.looks(line)
    above = [
        other.y - line.y
        for other in column
        if other.y - line.y > 1 and other.x0 < line.x1 and other.x1 > line.x0
    ]
    apart = min(above, default=1000.0) > 1.25 * body.leading
    if _MARKED_OFF.match(rest):
        return marked or apart
    return (marked and (line.words[0].bold or line.text.isupper() or rest.lstrip()[:1].isupper())) or (
        apart and rest.lstrip()[:1].isupper()
    )


def _column_of(line: Line, gutters: Sequence[Gutter]) -> int | None:
    """Which column a line stands in; None across columns."""
    if any(line.x0 < gutter.middle < line.x1 for gutter in gutters):
        return None
    return sum(gutter.middle <= line.x0 for gutter in gutters)


def _extent(
    line: Line, page: Page, lines: Sequence[Line], gutters: Sequence[Gutter], body: Body
) -> tuple[float, float]:
    """How wide the float of a caption is: as its column, or as a rule or text next to it that goes across."""
    left = min(body.left, *(other.x0 for other in lines)) - 1
    right = max(body.right, *(other.x1 for other in lines)) + 1
    edges = [left, *(gutter.middle for gutter in gutters), right]
    x0 = max(edge for edge in edges if edge <= line.x0)
    x1 = min(edge for edge in edges if edge >= line.x1)
    near = [
        (rule.x0, rule.x1)
        for rule in page.rules
        if -6 * line.size < rule.y - line.y < 2.5 * line.size and x0 - 20 < rule.x0 <= line.x0 + 5
    ]
    near += [
        (other.x0, other.x1)
        for other in lines
        if 0 <= line.y - other.y < 2.5 * line.size and other.x0 <= line.x1
    ]
    for start, end in near:
        if start < x1 and end > x1 + 20:
            x1 = next((edge for edge in edges if edge > end - 20), end + 1)
    return x0, x1


def _rows(lines: Sequence[Line], out: set[int]) -> list[_Row]:
    rows: list[_Row] = []
    for line in sorted((line for line in lines if id(line) not in out), key=lambda line: -line.y):
        if rows and rows[-1].y - line.y < 2:
            rows[-1].lines.append(line)
        else:
            rows.append(_Row([line]))
    return rows


def _caption_rows(first: Line, rows: Sequence[_Row], rules: Sequence[Rule], body: Body) -> list[_Row]:
    """The rows of a caption, which begins with `first`."""
    start = next(i for i, row in enumerate(rows) if any(line is first for line in row.lines))
    taken = [rows[start]]
    step = 0.0
    for row in rows[start + 1 :]:
        gap = taken[-1].y - row.y
        usual = step or 1.45 * first.size
        ruled = any(row.y + 0.5 * row.size < rule.y < taken[-1].y and rule.x1 > first.x0 for rule in rules)
        if gap > 1.25 * usual or ruled or row.is_tabular() or abs(row.size - first.size) > 0.06 * first.size:
            break
        if not body.looks(first) and len(taken) > 1 and all(body.looks(line) for line in row.lines):
            break
        if step and gap > 1.12 * step and body.looks(first):
            break
        step = step or gap
        taken.append(row)
    return taken


def _table_rows(
    caption: Sequence[_Row],
    below: Sequence[_Row],
    rules: Sequence[Rule],
    extent: tuple[float, float],
    body: Body,
) -> list[_Row]:
    """Rows of a table under its caption, with the notes under it."""
    x0, x1 = extent
    foot = _last_rule(caption, below, rules, extent, body)
    taken = [row for row in below if foot is not None and row.y > foot - 1]
    last = min(taken[-1].y, foot) if taken and foot is not None else caption[-1].y
    rest = below[len(taken) :]
    for number, row in enumerate(rest):
        small = all(body.smaller(line) for line in row.lines)
        near = last - row.y < (2.0 if foot is not None else 2.6) * max(body.leading, row.size)
        cells = foot is None and (row.is_tabular() or row.width < 0.6 * (x1 - x0))
        following = rest[number + 1] if number + 1 < len(rest) else None
        prose = row.is_prose(body, x1 - x0) or (
            following is not None and following.is_prose(body, x1 - x0) and not row.is_tabular() and not small
        )
        if (
            not near
            or row.is_heading(body)
            or CAPTION.match(row.lines[0].text)
            or prose
            or not (small or cells)
        ):
            break
        taken.append(row)
        last = row.y
    return taken


def _table_rows_above(caption: Line, above: Sequence[_Row], rules: Sequence[Rule], body: Body) -> list[_Row]:
    """Rows of a table whose caption stands below it: those under its highest rule, as far as they are no prose."""
    own = [rule.y for rule in rules if rule.x0 < caption.x1 and rule.x1 > caption.x0 and rule.y > caption.y]
    if not own or min(own) - caption.y > 3 * body.leading:
        return []
    taken: list[_Row] = []
    for row in above:
        prose = not row.is_tabular() and all(body.looks(line) and len(line.words) > 7 for line in row.lines)
        if row.y > max(own) or prose or row.is_heading(body):
            break
        taken.append(row)
    return taken


def _last_rule(
    caption: Sequence[_Row],
    below: Sequence[_Row],
    rules: Sequence[Rule],
    extent: tuple[float, float],
    body: Body,
) -> float | None:
    """The height of a table's lowest rule, or None for a table without rules."""
    x0, x1 = extent
    within = [
        rule
        for rule in rules
        if rule.x0 > x0 - 6 and rule.x1 < x1 + 6 and rule.y < caption[0].y + 2.5 * body.leading
    ]
    widest = max((rule.x1 - rule.x0 for rule in within), default=0.0)
    own = sorted((rule.y for rule in within if rule.x1 - rule.x0 > 0.6 * widest), reverse=True)
    if not own or caption[-1].y - own[0] > 3 * body.leading:
        return None
    last: float | None = None
    before = caption[-1].y
    for y in own:
        between = [row for row in below if y < row.y < before]
        n_prose = sum(row.is_prose(body, x1 - x0) for row in between)
        if n_prose >= 3 and n_prose > 0.5 * len(between):
            break
        if y < caption[-1].y:
            last = y
            before = y
    return last


def _figure_rows(rows: Sequence[_Row], body: Body, width: float) -> list[_Row]:
    """Rows of a figure, going away from its caption: labels of axes, legends, panel letters."""
    taken: list[_Row] = []
    for row in rows:
        if (
            row.is_heading(body)
            or any(body.looks(line) for line in row.lines)
            or row.has_small_capitals(body)
        ):
            break
        if not row.is_tabular() and row.width > 0.6 * width and len(row.lines[0].words) > 7:
            break
        if all(
            line.bold > 0.9 and line.size >= 0.98 * body.size and len(line.text) > 3 for line in row.lines
        ):
            break  # a heading
        taken.append(row)
    return taken
