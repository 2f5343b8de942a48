"""Reports of analyses: printed as aligned text, or written as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.output import note, print_table, print_wrapped, text_columns
from evidencebench_core.words import clipped_text, one_line

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.analyses import Report

_ROWS: Final = 40
_CELL: Final = 60  # characters


def print_report(report: Report) -> None:
    """Title, tables and notes. Long tables are cut, and say so."""
    print(one_line(report.title))
    for name, table in report.tables.items():
        print(f"\n{one_line(name)}")
        _print_frame(table)
    if report.notes:
        print()
    for line in report.notes:
        print_wrapped(line, "- ", text_columns(), below="  ")


def _print_frame(table: pd.DataFrame) -> None:
    from pandas.api.types import is_numeric_dtype

    if not len(table):
        print("(no rows)")
        return
    names = [one_line(str(name)) for name in table.columns]
    rows = [[_cell(value) for value in row] for row in table.head(_ROWS).itertuples(index=False, name=None)]
    right = {name for name, dtype in zip(names, table.dtypes, strict=True) if is_numeric_dtype(dtype)}
    print_table(names, rows, right=right)
    if len(table) > _ROWS:
        print(f"… {len(table) - _ROWS:,} more rows: see all with --csv FILE or --json")


def _cell(value: Any) -> str:
    import pandas as pd

    if isinstance(value, list | tuple):
        text = ", ".join(map(_cell, value))
    elif value is None or pd.isna(value):
        return "–"
    elif isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"
    else:
        text = str(value)
    return clipped_text(text, _CELL)


def write_csv(report: Report, path: Path) -> None:
    """Write the tables, each whole or not at all.

    One table goes to ``path`` itself, and so do several where it is a device or a pipe; otherwise each of
    several goes to a file with its name before the suffix, say ``out.matrix.csv``. What was written, and the
    notes, go to stderr.
    """
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import csv_text

    apart = len(report.tables) > 1 and (path.is_file() or not path.exists())
    for name, table in report.tables.items():
        file = (
            path.with_name(f"{path.stem}.{name.replace(' ', '_')}{path.suffix or '.csv'}") if apart else path
        )
        with whole_file(file) as stream:
            stream.write(csv_text(table).encode("utf-8", errors="backslashreplace"))
        note(f"{len(table):,} rows of {name!r} are in {file}")
    for line in report.notes:
        note(line)
