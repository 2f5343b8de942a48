"""A selection written one sentence a line: bullets, numbered points, rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evidencebench_core.llm.indices import Indices, indices_in

_LONGEST: Final = 200_000  # characters of a list that are read

_NUMBERS: Final = r"\d{1,9}(?:(?:[ ]*,[ ]*|[ ]*&[ ]*|[ ]+and[ ]+|[ ]*[-–—][ ]*|[ ]+to[ ]+)\d{1,9})*+"
_NAME: Final = (
    r"(?:(?:sentences?|index|indices|idx|item|line|satz|phrase|id|no\.|句子|句|第)"
    r"[ \t*_`]*[.:#]?[ \t*_`\"']*|s(?=\d)|#)"
)
# Where the number may end if nothing but its place says that it is an index.
_ENDS: Final = r"(?=[ \t]*$|[ \t]*[:;=|–—)](?!\d)|[ \t]*\.(?![\d])|[ \t]+-[ \t]|[ \t]*\(|[ \t]*,[ \t]*$)"
_ITEM: Final = re.compile(
    r"(?:[-*•·▪►→+–—>☑✅✓]++[ \t]+)?[*_`\"']*+"
    r"(?:\d{1,4}[.)][ \t]+[*_`\"']*+)?"  # "2. Sentence 12"
    rf"(?:{_NAME}(?P<named>{_NUMBERS})(?![\w.]*\d|%)"
    rf"|[\[(<][ \t*_`\"']*+(?P<closed>{_NUMBERS})[ \t*_`\"']*+[\])>]"
    rf"|(?P<bare>{_NUMBERS})[*_`\"']*+{_ENDS})",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"(?:[-*•][ \t]+)?[*_`]*+(\d{1,4})[.)][*_`]*+[ \t]+\S")
_CELL: Final = re.compile(
    rf"[*_`\"'\[(]*+{_NAME}?[ \t*_`\"'\[(]*+({_NUMBERS})[ \t*_`\"'\])>]*+", re.IGNORECASE
)
_RULE: Final = re.compile(r"[|:\s-]+")
_COLUMNS: Final = (
    re.compile(r"ind(?:ex|ices)|idx|索引|sentence (?:id|no|number|#)|\bid\b", re.IGNORECASE),
    re.compile(r"sentences?|satz|phrase|句", re.IGNORECASE),
    re.compile(r"#|no\.?|number|nr\.?", re.IGNORECASE),
)


def items_in(text: str, start: int, end: int) -> tuple[Indices, int] | None:
    """The indices that the lines from ``start`` on name, and where those lines end.

    A line that names none ends the list, but for blank lines and lines that are further indented.
    ``None`` if the first line with text is no item, or if the numbers only count the lines.
    """
    lines = list(_lines(text, start, min(end, start + _LONGEST)))
    while lines and (not lines[0][0].strip() or lines[0][0].strip().startswith("```")):
        lines.pop(0)
    if lines and lines[0][0].lstrip().startswith("|"):
        return _table(lines)
    found: list[Indices] = []
    counting: list[bool] = []
    indent, last = None, start
    for line, line_end in lines:
        body = line.strip()
        depth = len(line) - len(line.lstrip())
        if not body or (indent is not None and depth > indent):
            continue
        match = _ITEM.match(body)
        if match is None:
            break
        indent = depth if indent is None else min(indent, depth)
        number = match["named"] or match["closed"] or match["bare"]
        ordinal = _ORDINAL.match(body)
        counting.append(ordinal is not None and ordinal[1] == number and int(number) == len(found) + 1)
        found.append(indices_in(number.replace("&", ",")))
        last = line_end
    if all(counting):
        return None
    return Indices.joined(found), last


def _table(lines: Sequence[tuple[str, int]]) -> tuple[Indices, int] | None:
    """The column of a Markdown table that holds indices: by its heading, else the first of numbers."""
    rows: list[list[str]] = []
    last = 0
    for line, line_end in lines:
        if not line.lstrip().startswith("|"):
            break
        if not _RULE.fullmatch(line):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        last = line_end
    if not rows:
        return None
    head, *body = rows
    places = [place for named in _COLUMNS for place, cell in enumerate(head) if named.search(cell)]
    for place in (*places, *range(len(head))):
        for chosen in (body, rows):
            cells = [_CELL.fullmatch(row[place]) if place < len(row) else None for row in chosen]
            if cells and all(cells):
                return Indices.joined(indices_in(cell[1]) for cell in cells if cell), last
    return None


def _lines(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """The lines, each with where it ends."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield text[start:stop], stop
        start = stop + 1
