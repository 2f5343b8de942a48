"""The result of an analysis: tables, and notes on what they stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

import pandas as pd

from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.notebook import interval_columns, interval_plot, table_html

SHARES: Final = frozenset((
    "can", "can_high", "can_low", "ceiling", "chance", "chance_difference", "difference", "front_share", "must",
    "must_high", "must_low", "original", "overlap", "recall", "recall_high", "recall_low", "share", "share_aspects",
    "share_covering", "share_only", "standard_error",
))  # fmt: skip
"""Columns with shares of 0 to 1, or differences of such, by their names, which mean the same in every report."""
LEGEND: Final = {
    "n_can": "aspects that a sentence there covers (can: share of all); n_must: that only sentences there cover",
    "n_only": "aspects that only sentences there cover (share_only: of all)",
    "share_covering": "of all sentences that cover an aspect, or of those there",
    "chance": "what as many random sentences are expected to find",
    "chance_difference": "the difference that random picks are expected to have",
    "few": "under 20 instances: too few for an interval",
    "n_left_out": "instances without such a wording; n_missing: not answered yet",
    "original": "recall with the original hypothesis; overlap: share of the picks that stays",
    "difference": "of the first minus the second, in points; low, high: its 95% interval",
    "p_holm": "p, corrected for all pairs",
    "wins": "instances on which the first is better; losses: worse",
}
"""What columns mean that do not say it by their names."""


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to one question.

    Attributes
    ----------
    title : str
    finding : str
        The answer in one sentence, where there is one.
    tables : mapping of str to DataFrame
        By name; their columns are documented where they are made. Shares are 0 to 1.
    notes : tuple of str
        What the tables stand on, what was left out and why, how to read them.
    legend : mapping of str to str
        What columns mean, besides those of `LEGEND`.
    brief : mapping of str to sequence of str
        By table the columns that a terminal shows, where those are not all; none of a table that is not shown.
    shares : sequence of str
        Columns with shares of 0 to 1 besides `SHARES`.
    """

    title: str
    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    brief: Mapping[str, Sequence[str]] = field(default_factory=dict)
    shares: Sequence[str] = ()
    finding: str = ""

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} ({len(table):,})" for name, table in self.tables.items())
        return f"Report({self.title!r}: {tables})"

    def share_columns(self, table: str) -> frozenset[str]:
        """The columns of a table that are to be shown in percent: `SHARES`, and the bounds beside them."""
        columns = frozenset(map(str, self.tables[table].columns))
        shares = columns & {*SHARES, *self.shares}
        return shares | (columns & {"low", "high"} if shares else shares)

    def printed(self) -> dict[str, pd.DataFrame]:
        """The tables and columns that a terminal shows."""
        tables = {name: table[list(self.brief.get(name, table))] for name, table in self.tables.items()}
        return {name: table for name, table in tables.items() if len(table.columns)}

    def meanings(self) -> dict[str, str]:
        """What the columns mean that a terminal shows."""
        columns = {column for table in self.printed().values() for column in table}
        return {name: text for name, text in {**LEGEND, **self.legend}.items() if name in columns}

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values: a table is a list of records, and what is undefined is ``None``."""
        return {
            "title": self.title,
            "finding": self.finding,
            "tables": {name: records(table) for name, table in self.tables.items()},
            "notes": list(self.notes),
        }

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """The table of that name, or the first; `UnknownNameError` where there is none."""
        name = next(iter(self.tables), "") if table is None else table
        if name not in self.tables:
            raise UnknownNameError(
                self.title, f"has no table {shown(name)}", f"Its tables: {', '.join(self.tables) or 'none'}."
            )
        return self.tables[name]

    def plot(self, table: str | None = None) -> Any:
        """A plotly figure of a table with intervals, the first or the one of that name.

        `SettingError` for a table without intervals or of over 200 rows.
        """
        with_intervals = [name for name, frame in self.tables.items() if interval_columns(frame)]
        name = table or next(iter([*with_intervals, *self.tables]), "")
        return interval_plot(self.to_pandas(name), f"{self.title}: {name}", self.share_columns(name))

    def _repr_html_(self) -> str:
        """The tables below each other, escaped, for notebooks."""
        parts = [f"<h3>{escape(self.title)}</h3><p>{escape(self.finding)}</p>"]
        for name, table in self.tables.items():
            parts.append(f"<h4>{escape(name)} ({len(table):,})</h4>{table_html(table)}")
        if self.notes:
            parts.append(f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in self.notes)}</ul>")
        return "".join(parts)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as JSON-able dicts; NaN, NaT and infinities are ``None``."""
    names = [str(name) for name in table.columns]
    return [
        dict(zip(names, map(_json_value, row), strict=True))
        for row in table.itertuples(index=False, name=None)
    ]


def _json_value(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is None or isinstance(value, str | int):
        return value
    return None if value is pd.NA or value is pd.NaT else str(value)
