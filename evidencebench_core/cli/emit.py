"""The one place that prints a table or dumps JSON; data cannot steer the terminal."""

from __future__ import annotations

import json as json_format
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.words import clipped_text, one_line, wrapped

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report

MAX_COLUMNS: Final = 100  # of running text
MAX_ROWS: Final = 40  # of a table on a terminal
MAX_CELL: Final = 64  # characters


@dataclass(frozen=True, slots=True)
class Output:
    """The answer of a verb: what ``--json`` prints, and what a terminal shows; a heading of a table may be empty."""

    document: object
    tables: Mapping[str, Sequence[Mapping[Any, Any]]] = field(default_factory=dict)
    title: str = ""
    notes: Sequence[str] = ()
    percent: Collection[str] = ()  # columns with shares of 0 to 1
    legend: Mapping[str, str] = field(default_factory=dict)
    code: int = 0  # exit code


def emit(answer: Output | Report, json: bool, out: Path | None = None) -> None:
    """Print an answer as tables, or as one JSON document; with ``out`` the tables of a report go to CSV files."""
    if isinstance(answer, Output):
        output = answer
    else:
        if out is not None:
            _write_csv(answer, out)
        tables = {name: table.to_dict("records") for name, table in answer.printed().items()}
        percent = frozenset[str]().union(*map(answer.share_columns, tables))
        output = Output(answer.as_dict(), tables, answer.title, answer.notes, percent, answer.legend)
    if json:
        json_format.dump(output.document, sys.stdout, indent=2, allow_nan=False)
        print()
    elif out is None:
        _print(output)


def note(text: str) -> None:
    """A line on stderr, where it cannot get into the data."""
    print(one_line(text), file=sys.stderr)


def width() -> int:
    """Of running text, in columns."""
    return min(shutil.get_terminal_size().columns, MAX_COLUMNS)


def _print(output: Output) -> None:
    if output.title:
        print(one_line(output.title))
    for heading, rows in output.tables.items():
        if heading:
            print(f"\n{one_line(heading)}")
        _print_table(rows, output.percent)
    notes = [*(f"{column}: {meaning}" for column, meaning in output.legend.items()), *output.notes]
    if notes and output.tables:
        print()
    for line in notes:
        print(*wrapped(line, width(), "- "), sep="\n")


def _print_table(rows: Sequence[Mapping[Any, Any]], percent: Collection[str]) -> None:
    if not rows:
        print("(no rows)")
        return
    shown = rows[:MAX_ROWS]
    shares = set(percent) & rows[0].keys()
    percent = shares if shares - {"low", "high"} else ()  # bounds are in percent beside a share only
    *names, last = rows[0]
    columns = [_column(shown, name, name in percent, MAX_CELL) for name in names]
    used = sum(len(column[0]) + 2 for column in columns)
    room = max(MAX_CELL, shutil.get_terminal_size().columns - used)
    for line in zip(*columns, _column(shown, last, last in percent, room), strict=True):
        print("  ".join(line).rstrip())
    if len(rows) > MAX_ROWS:
        print(f"… {len(rows) - MAX_ROWS:,} more rows: see all with --json")


def _column(rows: Sequence[Mapping[Any, Any]], name: Any, percent: bool, limit: int) -> list[str]:
    """A column of a table, all cells of a width; numbers stand to the right."""
    header = f"{name} %" if percent else str(name)
    cells = [_p_value(row[name]) if name in ("p", "p_holm") else cell(row[name], percent) for row in rows]
    texts = [clipped_text(text, limit) for text in (one_line(header), *cells)]
    widest = max(map(len, texts))
    is_number = any(isinstance(row[name], int | float) for row in rows)
    return [text.rjust(widest) if is_number else text.ljust(widest) for text in texts]


def _p_value(value: Any) -> str:
    return "< 0.0001" if isinstance(value, float) and value < 0.0001 else cell(value)


def cell(value: Any, percent: bool = False) -> str:
    """A value in a table; ``–`` where there is none."""
    if value is None or (isinstance(value, float) and isnan(value)):
        text = "–"
    elif isinstance(value, list | tuple):  # in percent: an interval
        text = (" to " if percent else ", ").join(cell(part, percent) for part in value)
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, float):
        text = f"{100 * value:.1f}" if percent else f"{value:.4g}"
    else:
        text = f"{value:,}" if isinstance(value, int) else str(value)
    return one_line(text)


def _write_csv(report: Report, path: Path) -> None:
    """One table goes to the file itself, several each to one with its name before the suffix: ``out.matrix.csv``."""
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import csv_text

    for name, table in report.tables.items():
        part = path.with_name(f"{path.stem}.{name.replace(' ', '_')}{path.suffix or '.csv'}")
        file = part if len(report.tables) > 1 else path
        with whole_file(file) as stream:
            stream.write(csv_text(table).encode("utf-8", errors="backslashreplace"))
        note(f"{len(table):,} rows of {name!r} are in {file}")
    for line in report.notes:
        note(line)
