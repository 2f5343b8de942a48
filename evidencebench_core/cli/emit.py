"""The one place that prints a table or dumps JSON; data cannot steer the terminal."""

from __future__ import annotations

import json as json_format
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.words import clipped_text, one_line

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report

MAX_COLUMNS: Final = 100  # of running text
MAX_ROWS: Final = 40  # of a table on a terminal
MAX_CELL: Final = 60  # characters
SHARES: Final = frozenset(  # columns of analyses with shares of 0 to 1; their bounds stand beside them
    {"recall", "share", "difference", "ceiling", "chance", "chance_difference", "standard_error"}
    | {"share_covering", "share_aspects", "share_only", "mean_recall"}
)


@dataclass(frozen=True, slots=True)
class Output:
    """The answer of a verb.

    Attributes
    ----------
    document : object
        What ``--json`` prints.
    tables : mapping of str to sequence of mapping
        Rows by heading; a heading may be empty.
    title : str
    notes : sequence of str
        What stands below the tables.
    percent : collection of str
        Columns with shares of 0 to 1, which are shown in percent.
    """

    document: object
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    title: str = ""
    notes: Sequence[str] = ()
    percent: Collection[str] = ()


def emit(report: Output | Report, json: bool, out: Path | None = None) -> None:
    """Print a report as tables, or as one JSON document; with ``out`` its tables go to CSV files instead."""
    if out is not None and not isinstance(report, Output):
        _write_csv(report, out)
    if json:
        document = report.document if isinstance(report, Output) else report.as_dict()
        json_format.dump(document, sys.stdout, indent=2, allow_nan=False)
        print()
    elif out is None or isinstance(report, Output):
        _print(report)


def note(text: str) -> None:
    """A line on stderr, where it cannot get into the data."""
    print(one_line(text), file=sys.stderr)


def wrap(text: str, margin: str = "", below: str | None = None) -> None:
    """Print running text: the first line after the margin, the others after ``below``, or as many blanks."""
    columns = min(shutil.get_terminal_size().columns, MAX_COLUMNS)
    lines = textwrap.wrap(
        one_line(text),
        width=max(columns, len(margin) + 20),
        initial_indent=margin,
        subsequent_indent=" " * len(margin) if below is None else below,
        break_on_hyphens=False,
    )
    for line in lines:
        print(line)


def listing(names: Sequence[str], limit: int = 5) -> str:
    """The first names, and how many more there are."""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more:,} more" if more > 0 else "")


def _print(report: Output | Report) -> None:
    if report.title:
        print(one_line(report.title))
    percent = getattr(report, "percent", ())
    for heading, table in report.tables.items():
        rows = table if isinstance(table, Sequence) else table.to_dict("records")
        if heading:
            print(f"\n{one_line(heading)}")
        names = {str(name) for name in rows[0]} if rows else set()
        bounds = {"low", "high"} if names & SHARES else set()
        _print_table(rows, percent or (SHARES | bounds))
    legend: Mapping[str, str] = getattr(report, "legend", {})
    notes = [*(f"{column}: {meaning}" for column, meaning in legend.items()), *report.notes]
    if notes and report.tables:
        print()
    for line in notes:
        wrap(line, "- ", below="  ")


def _print_table(rows: Sequence[Mapping[Any, Any]], percent: Collection[str]) -> None:
    if not rows:
        print("(no rows)")
        return
    names = [str(name) for name in rows[0]]
    shown = rows[:MAX_ROWS]
    numeric = [any(isinstance(row[name], int | float) for row in shown) for name in rows[0]]
    headers = [f"{one_line(name)} %" if name in percent else one_line(name) for name in names]
    lines = [headers, *([cell(row[name], str(name) in percent) for name in rows[0]] for row in shown)]
    lines = [[*(clipped_text(text, MAX_CELL) for text in line[:-1]), line[-1]] for line in lines]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    room = max(MAX_CELL, shutil.get_terminal_size().columns - sum(widths[:-1]) - 2 * len(widths))
    widths[-1] = min(widths[-1], room)
    lines = [[*line[:-1], clipped_text(line[-1], room)] for line in lines]
    for line in lines:
        cells = (
            " " * (width - _width(text)) + text if right else text + " " * (width - _width(text))
            for text, width, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(cells).rstrip())
    if len(rows) > MAX_ROWS:
        print(f"… {len(rows) - MAX_ROWS:,} more rows: see all with --json")


def cell(value: Any, percent: bool = False) -> str:
    """A value in a table; ``–`` where there is none."""
    if hasattr(value, "text"):  # an Estimate
        text = value.text()
    elif value is None or (isinstance(value, float) and isnan(value)):
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


def _width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    wide = (unicodedata.east_asian_width(char) in "WF" for char in text if not unicodedata.combining(char))
    return len(text) if text.isascii() else sum(2 if is_wide else 1 for is_wide in wide)


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
