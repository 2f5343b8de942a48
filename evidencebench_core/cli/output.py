"""Output of the verbs: one JSON document, or calm aligned text in which data cannot steer the terminal."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Collection, Sequence

from evidencebench_core.words import one_line

_MEASURE = 100


def note(text: str) -> None:
    """A line on stderr, where it cannot get into the data."""
    print(one_line(text), file=sys.stderr)


def print_json(document: object) -> None:
    """One JSON document on stdout, in ASCII, so that no terminal or pipe can spoil it."""
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    print()


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> None:
    """Columns two spaces apart; ``right`` are the headers of those that are aligned to the right."""
    lines = [list(headers), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            _cell(cell, size, header in right)
            for cell, size, header in zip(line, widths, headers, strict=True)
        )
        print("  ".join(cells).rstrip())


def _cell(cell: str, size: int, right: bool) -> str:
    blank = " " * (size - width(cell))
    return blank + cell if right else cell + blank


def text_columns() -> int:
    """How wide running text may be: the terminal's width, but never more than is good to read."""
    return min(shutil.get_terminal_size().columns, _MEASURE)


def print_wrapped(text: str, margin: str, columns: int, below: str | None = None) -> None:
    """Text in lines of so many columns: the first after the margin, the others after ``below``.

    Without ``below`` they stand under the first, after as many blanks.
    """
    for line in textwrap.wrap(
        one_line(text),
        width=max(columns, len(margin) + 20),
        initial_indent=margin,
        subsequent_indent=" " * len(margin) if below is None else below,
        break_on_hyphens=False,
    ):
        print(line)


def width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def percent(share: float | None) -> str:
    """A share of 0 to 1 in percent with one decimal, ``–`` where it is undefined."""
    return "–" if share is None else f"{100 * share:.1f}"


def interval(bounds: Sequence[float] | None) -> str:
    """``12.1 to 17.3``, in percent; ``–`` where it is undefined."""
    return "–" if bounds is None else f"{percent(bounds[0])} to {percent(bounds[1])}"


def p_value(p: float | None, digits: int = 4) -> str:
    """A p-value with so many decimals; ``–`` where there is none."""
    return "–" if p is None else f"{p:.{digits}f}"


def listing(names: Sequence[str], limit: int = 5) -> str:
    """The first names, and how many more there are."""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more:,} more" if more > 0 else "")
