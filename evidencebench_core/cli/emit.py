"""The one place that prints a table or dumps JSON; data cannot steer the terminal."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from evidencebench_core.words import clipped_text, one_line, p_text, value_text, wrapped

if TYPE_CHECKING:
    from evidencebench_core.analyses import Report
    from evidencebench_core.export.paper_table import TableFormat

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
    report: Callable[[], Report] | None = None  # for files and papers
    lines: Iterable[str] = ()  # what a terminal shows in place of tables
    finding: str = ""  # the answer in one sentence


def emit(answer: Output | Report, form: TableFormat | None = None, out: Path | None = None) -> None:
    """Print an answer for a terminal or in a format; with ``out`` it goes there, without a format as CSV."""
    output = answer if isinstance(answer, Output) else _output(answer)
    if form is None and out is None:
        _print(output)
    elif form == "json":
        _write(f"{json.dumps(output.document, indent=2, allow_nan=False)}\n", out)
    elif output.report is not None:
        from evidencebench_core.export.paper_table import table_text

        report = output.report()
        if form in (None, "csv") and out is not None:
            _write_csv(report, out)
        else:
            _write(table_text(report, form or "csv"), out)


def _output(report: Report) -> Output:
    tables = {name: table.to_dict("records") for name, table in report.printed().items()}
    percent = frozenset[str]().union(*map(report.share_columns, tables))
    hidden = [f"{name} ({len(table):,} rows)" for name, table in report.tables.items() if name not in tables]
    notes = [*report.notes, *(f"Not shown: {part}. `--out FILE` writes it." for part in hidden)]
    return Output(
        report.as_dict(),
        tables,
        report.title,
        notes,
        percent,
        report.meanings(),
        report=lambda: report,
        finding=report.finding,
    )


def note(text: str) -> None:
    """A line on stderr, where it cannot get into the data."""
    print(one_line(text), file=sys.stderr)


def width() -> int:
    """Of running text, in columns."""
    return min(shutil.get_terminal_size().columns, MAX_COLUMNS)


def _print(output: Output) -> None:
    if output.title:
        print(one_line(output.title))
    if output.finding:
        print(*wrapped(output.finding, width()), sep="\n")
    for heading, rows in output.tables.items():
        if heading:
            print(f"\n{one_line(heading)}")
        _print_table(rows, output.percent)
    shows = bool(output.tables)
    for line in output.lines:
        print(line)
        shows = True
    notes = [*(f"{column}: {meaning}" for column, meaning in output.legend.items()), *output.notes]
    if notes and shows:
        print()
    for line in notes:
        print(*wrapped(line, width(), "- "), sep="\n")


def _print_table(rows: Sequence[Mapping[Any, Any]], percent: Collection[str]) -> None:
    if not rows:
        print("(no rows)")
        return
    is_terminal = sys.stdout.isatty()
    shown, cell = (rows[:MAX_ROWS], MAX_CELL) if is_terminal else (rows, sys.maxsize)
    shares = set(percent) & rows[0].keys()
    percent = shares if shares - {"low", "high"} else ()  # bounds are in percent beside a share only
    *names, last = rows[0]
    columns = [_column(shown, name, name in percent, cell) for name in names]
    used = sum(len(column[0]) + 2 for column in columns)
    room = max(cell, shutil.get_terminal_size().columns - used)
    for line in zip(*columns, _column(shown, last, last in percent, room), strict=True):
        print("  ".join(line).rstrip())
    if len(shown) < len(rows):
        print(f"… {len(rows) - MAX_ROWS:,} more rows: a file or a pipe gets all")


def _column(rows: Sequence[Mapping[Any, Any]], name: Any, percent: bool, limit: int) -> list[str]:
    """A column of a table, all cells of a width; numbers stand to the right."""
    header = f"{name} %" if percent else str(name)
    cells = [p_text(row[name]) if name in ("p", "p_holm") else value_text(row[name], percent) for row in rows]
    texts = [clipped_text(text, limit) for text in (one_line(header), *cells)]
    widest = max(map(len, texts))
    is_number = any(isinstance(row[name], int | float) for row in rows)
    return [text.rjust(widest) if is_number else text.ljust(widest) for text in texts]


def _write_csv(report: Report, path: Path) -> None:
    """One table goes to the file itself, several each to one with its name before the suffix: ``out.matrix.csv``."""
    from evidencebench_core.export import csv_text

    for name, table in report.tables.items():
        part = path.with_name(f"{path.stem}.{name.replace(' ', '_')}{path.suffix or '.csv'}")
        _write(csv_text(table), part if len(report.tables) > 1 else path)
    for line in report.notes:
        note(line)


def _write(text: str, path: Path | None) -> None:
    if path is None:
        sys.stdout.write(text)
    else:
        write_file(path, text.encode("utf-8", errors="backslashreplace"))


def write_file(path: Path, content: bytes) -> None:
    with output_stream(path) as stream:
        stream.write(content)


@contextmanager
def output_stream(path: Path | None) -> Iterator[BinaryIO]:
    """The file, there whole or not at all (a note says so), or standard output."""
    from evidencebench_core.data.files import whole_file

    if path is not None:
        with whole_file(path) as stream:
            yield stream
        note(f"Written to {path}")
    else:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
