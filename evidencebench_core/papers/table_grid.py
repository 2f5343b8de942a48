"""Tables of JATS and HTML as they are printed: which cell stands in which column of which row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from evidencebench_core.papers.xml_tree import Element

_CELLS: Final = ("td", "th")
_MOST_SPAN: Final = 100  # rows or columns of a cell
_MOST_COLUMNS: Final = 200  # of a table; what stands behind is left out


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell of a table; the same object wherever it spans to."""

    element: Element

    def span(self, name: str) -> int:
        """Of its ``colspan`` or ``rowspan``; 1 where that is no number."""
        said = self.element.attributes.get(name, "").strip()
        return min(max(int(said), 1), _MOST_SPAN) if said.isdecimal() and len(said) < 9 else 1


def table_grid(table: Element) -> tuple[int, list[dict[int, Cell]]]:
    """How many rows are headings, and of each row its cells by column; those of tables within are not read.

    Headings are the rows of a ``<thead>``; without one the first rows that are all of ``<th>``.
    """
    parts = list(table.walk(*_CELLS))
    rows = [one for one in parts if one.tag == "tr"]
    heads = [one for part in parts if part.tag == "thead" for one in part.elements if one.tag == "tr"]
    first = heads or list(takewhile(lambda row: all(cell.tag == "th" for cell in row.elements), rows))
    known = set(first)
    return len(first), _grid([*first, *(one for one in rows if one not in known)])


def _grid(rows: Sequence[Element]) -> list[dict[int, Cell]]:
    grid = []
    spanning: dict[
        int, tuple[Cell, int]
    ] = {}  # by column a cell from above, and the rows that it still spans
    for row in rows:
        placed = {column: cell for column, (cell, _) in spanning.items()}
        spanning = {column: (cell, left - 1) for column, (cell, left) in spanning.items() if left > 1}
        column = 0
        for cell in (Cell(one) for one in row.elements if one.tag in _CELLS):
            while column in placed:
                column += 1
            end = min(column + cell.span("colspan"), _MOST_COLUMNS)
            for one in range(column, end):
                if placed.setdefault(one, cell) is cell and (below := cell.span("rowspan") - 1):
                    spanning[one] = cell, below
            column = max(column, end)
        grid.append(dict(sorted(placed.items())))
    return grid
