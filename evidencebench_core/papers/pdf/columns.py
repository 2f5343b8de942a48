"""The columns of a page, and its lines in the order in which they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from evidencebench_core.papers.pdf.lines import Line, aligned_lines, groups_of, merged_lines, width_of

_SAME: Final = 2.5  # points by which a gutter may differ from page to page
_INDENT: Final = 30.0  # points by which lists and references may begin right of their column
_MIN_ROWS: Final = 4
_MIN_WIDTH: Final = 0.18  # of the width of the text: a column, not a table's
_MAX_DEPTH: Final = 4
_MAX_LINES: Final = 2000  # a page with more is no page of text
_MAX_GAP: Final = 8.0  # ems between words of one line, once the columns are known

Column = list[Line]
"""Lines that are read from the top down."""


@dataclass(frozen=True, slots=True)
class Gutter:
    """The white between two columns: right edge of the left one, left edge of the right one."""

    left: float
    right: float
    n_lines: int

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def gutters_of(lines: Sequence[Line], expected: Collection[Gutter] = ()) -> list[Gutter]:
    """The gutters of a page from left to right; none for one column."""
    return _Divider(lines, expected).gutters(lines)


def columns_of(lines: Sequence[Line], expected: Collection[Gutter] = ()) -> list[Column]:
    """Columns in reading order: from left to right between lines across, at gutters like those of other pages."""
    groups = _Divider(lines, expected).in_reading_order(list(lines))
    return [merged_lines(group, _MAX_GAP) for group in groups if group]


class _Divider:
    """Divides the lines of a page, or of a column of it, at the gutter that most of them respect."""

    def __init__(self, lines: Sequence[Line], expected: Collection[Gutter]) -> None:
        self.expected = expected
        self.min_width = max(_MIN_WIDTH * width_of(lines), 50.0)

    def gutters(self, lines: Sequence[Line], depth: int = 0) -> list[Gutter]:
        gutter = self._gutter(lines) if depth < _MAX_DEPTH else None
        if gutter is None:
            return []
        left = [line for line in lines if line.x1 <= gutter.middle]
        right = [line for line in lines if line.x0 >= gutter.middle]
        return [*self.gutters(left, depth + 1), gutter, *self.gutters(right, depth + 1)]

    def in_reading_order(self, lines: list[Line], depth: int = 0) -> list[list[Line]]:
        gutter = self._gutter(lines) if depth < _MAX_DEPTH else None
        if gutter is None:
            return [lines] if lines else []
        x = gutter.middle

        def side_by_side(part: list[Line]) -> list[list[Line]]:
            left = [line for line in part if line.x0 < x]
            right = [line for line in part if line.x0 >= x]
            return self.in_reading_order(left, depth + 1) + self.in_reading_order(right, depth + 1)

        across = [line for line in lines if line.x0 < x < line.x1]  # from the top down
        rest = [line for line in lines if line not in across]
        groups: list[list[Line]] = []
        for band in groups_of(across, _is_near):
            top, foot = band[0].y + 0.3 * band[0].size, band[-1].y - 0.3 * band[-1].size
            groups += side_by_side([line for line in rest if line.y > top])
            beside = [line for line in rest if foot <= line.y <= top]
            groups.append(band + beside)
            rest = [line for line in rest if line.y < foot]
        return groups + side_by_side(rest)

    def _gutter(self, lines: Sequence[Line]) -> Gutter | None:
        if not 2 <= len(lines) <= _MAX_LINES:
            return None
        x0, x1 = min(line.x0 for line in lines), max(line.x1 for line in lines)
        first, last = x0 + 0.2 * (x1 - x0), x1 - 0.1 * (x1 - x0)
        groups = [group for group in aligned_lines(lines) if first < group[0].x0 < last]
        gutters = filter(None, [self._gutter_before(group, lines) for group in groups])
        return max(gutters, key=lambda gutter: gutter.n_lines, default=None)

    def _gutter_before(self, group: Sequence[Line], lines: Sequence[Line]) -> Gutter | None:
        """The gutter left of lines that begin at the same place, if there is one."""
        start = group[0].x0
        expected = next((g for g in self.expected if g.right - _SAME < start < g.right + _INDENT), None)
        n_rows = len({round(line.y) for line in group})
        min_rows = _MIN_ROWS if expected is None else 1
        beyond = 2.0 if expected is None else 2.5 * group[0].size
        top, foot = max(line.y for line in group) + beyond, min(line.y for line in group) - beyond
        near = [line for line in lines if foot <= line.y <= top]
        n_across = sum(line.x0 < start - 3 and line.x1 > start + 3 for line in near)
        left = [line for line in near if line.x1 <= start - 1]
        n_rows_left = len({round(line.y) for line in left})
        most_across = 0.25 * n_rows if n_rows >= _MIN_ROWS else 0
        if min(n_rows, n_rows_left) < min_rows or n_across > most_across:
            return None
        edge = sorted(line.x1 for line in left)[int(0.98 * (len(left) - 1))]
        if expected is not None:
            is_free = edge < expected.left + _SAME
            return Gutter(expected.left, expected.right, n_rows) if is_free else None
        right = [line for line in near if line.x0 >= start - 1]
        if min(_typical_width(left), _typical_width(right)) < self.min_width:
            return None
        return Gutter(edge, start, n_rows - 2 * n_across)


def _typical_width(lines: Sequence[Line]) -> float:
    """Median of how much of its row text takes; a table's rows are mostly white."""
    rows: Counter[int] = Counter()
    for line in lines:
        rows[round(line.y)] += round(line.x1 - line.x0)
    return median(rows.values()) if rows else 0.0


def _is_near(band: Sequence[Line], line: Line) -> bool:
    return band[-1].y - line.y < 2.2 * max(line.size, band[-1].size)
