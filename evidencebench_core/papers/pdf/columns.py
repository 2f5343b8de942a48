"""The columns of a page, and its lines in the order in which they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from evidencebench_core.papers.pdf.page import Line, merged_lines

_ALIGNED: Final = 2.5  # points within which lines begin at the same place
_INDENT: Final = 30.0  # points by which lists and references may begin right of their column
_FEWEST_ROWS: Final = 4
_NARROWEST: Final = 0.18  # of the width of the text: a column, not a table's
_DEEPEST: Final = 4
_WITHIN: Final = 8.0  # ems between words of one line, once the columns are known


@dataclass(frozen=True, slots=True)
class Gutter:
    """The white between two columns: right edge of the left one, left edge of the right one."""

    left: float
    right: float
    n_lines: int

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(slots=True)
class Column:
    """Lines that are read from the top down, and the width they have."""

    page: int
    lines: list[Line]
    x0: float
    x1: float


def gutters(lines: Sequence[Line], known: Collection[Gutter] = ()) -> list[Gutter]:
    """The gutters of a page from left to right; without any for one column."""
    return _Divider(lines, known).gutters(lines)


def columns(lines: Sequence[Line], page: int, known: Collection[Gutter] = ()) -> list[Column]:
    """Columns in reading order.

    Text across the whole width (title, abstract, wide tables) divides a page into bands; within a band the
    left column comes before the right one. A column may have columns again.
    """
    return [
        Column(page, rows, min(row.x0 for row in rows), max(row.x1 for row in rows))
        for group in _Divider(lines, known).in_reading_order(list(lines))
        if (rows := merged_lines(group, _WITHIN))
    ]


class _Divider:
    """Divides the lines of a page, or of a column of it, at the gutter that most of them respect."""

    def __init__(self, lines: Sequence[Line], known: Collection[Gutter]) -> None:
        self.known = known  # the gutters of other pages
        width = max((line.x1 for line in lines), default=0.0) - min((line.x0 for line in lines), default=0.0)
        self.least = max(_NARROWEST * width, 50.0)  # of a column; a table's are narrower

    def gutters(self, lines: Sequence[Line], depth: int = 0) -> list[Gutter]:
        found = self._gutter(lines) if depth < _DEEPEST else None
        if found is None:
            return []
        left = [line for line in lines if line.x1 <= found.middle]
        right = [line for line in lines if line.x0 >= found.middle]
        return [*self.gutters(left, depth + 1), found, *self.gutters(right, depth + 1)]

    def in_reading_order(self, lines: list[Line], depth: int = 0) -> list[list[Line]]:
        gutter = self._gutter(lines) if depth < _DEEPEST else None
        if gutter is None:
            return [lines] if lines else []
        x = gutter.middle

        def side_by_side(part: list[Line]) -> list[list[Line]]:
            left, right = [line for line in part if line.x0 < x], [line for line in part if line.x0 >= x]
            return self.in_reading_order(left, depth + 1) + self.in_reading_order(right, depth + 1)

        across = {line for line in lines if line.x0 < x < line.x1 and not _collides(line, lines)}
        found: list[list[Line]] = []
        rest = sorted((line for line in lines if line not in across), key=lambda line: -line.y)
        for run in _runs(across):
            last = _short_last_line(run, rest)
            group = [*run, last] if last else run
            rest = [line for line in rest if line is not last]
            top, foot = group[0].y + 0.3 * group[0].size, group[-1].y - 0.3 * group[-1].size
            found += side_by_side([line for line in rest if line.y > top])
            beside = [line for line in rest if foot <= line.y <= top]
            found += self.in_reading_order(group + beside, depth + 1) if beside else [group]
            rest = [line for line in rest if line.y < foot]
        return found + side_by_side(rest)

    def _gutter(self, lines: Sequence[Line]) -> Gutter | None:
        if len(lines) < 2:
            return None
        x0, x1 = min(line.x0 for line in lines), max(line.x1 for line in lines)
        starts: list[list[Line]] = []
        for line in sorted(lines, key=lambda line: line.x0):
            if starts and line.x0 - starts[-1][0].x0 < _ALIGNED:
                starts[-1].append(line)
            else:
                starts.append([line])
        best: Gutter | None = None
        for group in starts:
            if x0 + 0.2 * (x1 - x0) < group[0].x0 < x1 - 0.1 * (x1 - x0):
                found = self._gutter_before(group, lines)
                # Of two that are close the left one: beside it lines are indented.
                if found and (
                    best is None or found.n_lines > best.n_lines * (1 if found.right - best.right > 40 else 3)
                ):
                    best = found
        return best

    def _gutter_before(self, group: Sequence[Line], lines: Sequence[Line]) -> Gutter | None:
        """The gutter left of lines that begin at the same place, if there is one."""
        start = min(line.x0 for line in group)
        expected = next((g for g in self.known if g.right - _ALIGNED < start < g.right + _INDENT), None)
        rows = {round(line.y) for line in group}
        fewest = _FEWEST_ROWS if expected is None else 1
        if len(rows) < fewest:
            return None
        beyond = 2.0 if expected is None else 2.5 * group[0].size
        top, foot = max(line.y for line in group) + beyond, min(line.y for line in group) - beyond
        near = [line for line in lines if foot <= line.y <= top]
        across = [line for line in near if line.x0 < start - 3 and line.x1 > start + 3]
        left = [line for line in near if line.x1 <= start - 1]
        if len(across) > (0.25 * len(rows) if len(rows) >= _FEWEST_ROWS else 0):
            return None
        if len({round(line.y) for line in left}) < fewest:
            return None
        edge = sorted(line.x1 for line in left)[int(0.98 * (len(left) - 1))]
        if expected is not None:
            whole = edge < expected.left + _ALIGNED
            return Gutter(expected.left, expected.right, len(rows)) if whole else None
        right = [line for line in near if line.x0 >= start - 1]
        if _typical_width(left) < self.least or _typical_width(right) < self.least:
            return None
        return Gutter(edge, start, len(rows) - 2 * len(across))


def _collides(line: Line, lines: Sequence[Line]) -> bool:
    """Whether a line is printed over another: a long word that leaves its column, no text across columns."""
    return any(
        0.1 * line.size < abs(line.y - other.y) < 0.7 * line.size
        and other.x0 < line.x1
        and line.x0 < other.x1
        for other in lines
    )


def _short_last_line(group: Sequence[Line], lines: Sequence[Line]) -> Line | None:
    """The last line of a paragraph across the columns, which ends before the gutter."""
    above = group[-1]
    near = [line for line in lines if 0.5 * above.size < above.y - line.y < 1.6 * above.size]
    aligned = len(near) == 1 and abs(near[0].x0 - above.x0) < 2 and near[0].style == above.style
    return near[0] if aligned else None


def _runs(lines: Collection[Line]) -> list[list[Line]]:
    """Lines across the gutter, in groups without a wide gap between them, from the top down."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (-line.y, line.x0)):
        if groups and groups[-1][-1].y - line.y < 2.2 * max(line.size, groups[-1][-1].size):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _typical_width(lines: Sequence[Line]) -> float:
    """Median of how much of its row text takes; a table's rows are mostly white."""
    rows: Counter[int] = Counter()
    for line in lines:
        rows[round(line.y)] += round(line.x1 - line.x0)
    return median(rows.values()) if rows else 0.0
