"""What the core's values do in a notebook: they are tables, which a cell draws, and plots of intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.words import visible

if TYPE_CHECKING:
    import pandas as pd

_IDS: Final = frozenset({"system", "run", "a", "b"})  # of runs, which have labels beside them
_MOST_ROWS: Final = 200  # of a plot


class Tabular:
    """A value that is a table; a dataclass is one row, of its fields."""

    __slots__ = ()

    def to_pandas(self) -> pd.DataFrame:
        return values_table([self], type(self))

    def _repr_html_(self) -> str:
        return table_html(self.to_pandas())


def values_table(values: Iterable[object], kind: type) -> pd.DataFrame:
    """A row for each value of a dataclass, a column for each of its fields."""
    import pandas as pd

    names = [field.name for field in fields(kind)]
    return pd.DataFrame([{name: getattr(value, name) for name in names} for value in values], columns=names)


def table_html(table: pd.DataFrame) -> str:
    """A table as HTML, its first and last 30 rows; no text is markup."""
    return visible(
        table.to_html(index=False, na_rep="–", float_format="{:.4g}".format, max_rows=60, border=0)
    )


def interval_columns(table: pd.DataFrame) -> dict[str, list[str]]:
    """The columns of values, with those of their intervals to the right: ``low, high``, or ``X_low, X_high``."""
    columns, bounds = list(map(str, table.columns)), {}
    for place, name in enumerate(columns, start=1):
        following = columns[place : place + 2]
        if following in (["low", "high"], [f"{name}_low", f"{name}_high"]):
            bounds[name] = following
    return bounds


def interval_plot(table: pd.DataFrame, title: str, shares: Collection[str]) -> Any:
    """A plotly figure of values with their intervals, a row of the table a dot, named by its texts.

    ``shares`` are the columns to be shown in percent. `SettingError` for a table without intervals, or a long one.
    """
    value, bounds = next(iter(interval_columns(table).items()), ("", []))
    if not value or len(table) > _MOST_ROWS:
        problem = f"has {len(table):,} rows" if value else "has no value with its interval"
        remedy = f"Plot what to_pandas() gives: {', '.join(map(str, table.columns))}."
        raise SettingError(f"plot of {shown(title)}", problem, remedy)
    low, high = bounds
    names = _row_names(table.drop(columns=[value, low, high]))
    above, below = table[high] - table[value], table[value] - table[low]
    frame = table[[value]].assign(name=names, above=above, below=below)
    figure = frame.plot(
        backend="plotly",
        kind="scatter",
        x=value,
        y="name",
        error_x="above",
        error_x_minus="below",
        title=_plain_text(title),
        height=180 + 32 * len(frame),
        template="plotly_white",
        color_discrete_sequence=[SYSTEMS[0].light],
    )
    figure.update_traces(marker_size=10)
    figure.update_yaxes(title="", autorange="reversed")
    figure.update_xaxes(title=value.replace("_", " "), tickformat=".0%" if value in shares else "")
    if "difference" in value:
        figure.add_vline(x=0, line_width=1)
    elif value in shares:
        figure.update_xaxes(range=[0, 1])
    return figure


def _row_names(columns: pd.DataFrame) -> pd.Series[str]:
    """The texts of each row, and as many of the other columns as it takes to tell the rows apart."""
    texts = [
        name
        for name in columns
        if name not in _IDS and columns[name].map(lambda cell: type(cell) is str).all()
    ]
    others = sorted((name for name in columns if name not in texts), key=_IDS.__contains__)
    names = columns[texts].agg(" · ".join, axis=1)
    while others and names.duplicated().any():
        names = (names + " · " + columns[others.pop(0)].astype(str)).str.removeprefix(" · ")
    return names.map(_plain_text)


def _plain_text(text: str) -> str:
    """A text in a figure, where plotly reads markup."""
    return escape(visible(text), quote=False)
