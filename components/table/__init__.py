"""A table of records: server-side sort by a click on a heading, open or tick a row, aspect chips.

``st.dataframe`` sorts only the rows it was sent and selects by position; this table tells Python
which *record* was meant. All text goes to the browser as data and is written as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from components.component import component, component_event

EventKind = Literal["open", "tick", "sort", "chip"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `kind` says how its cells are drawn.

    ``number`` and ``percent`` are right-aligned with tabular figures, ``title`` is the serif head of the
    record, ``id`` small and on one line. A text under ``percent`` or ``interval`` is written as it is.
    """

    key: str
    label: str
    kind: Literal["text", "title", "id", "number", "percent", "interval", "chips"] = "text"
    help: str = ""  # on hover over the heading
    sortable: bool = False
    digits: int = 0  # decimals of a number
    signed: bool = False  # a plus before a positive number
    lines: int = 0  # after which a text is cut, to be read whole on hover; 0: never


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its interval, all from 0 to 1."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chip:
    """Something small in a cell that can be clicked: a study aspect or a sentence."""

    target: str  # sent back by a click: "aspect:A3", "sentence:17"
    label: str
    number: int | None = None  # 0-based position of the aspect, which chooses its colour; None for a sentence
    title: str = ""
    filled: bool = True  # False draws it hollow: repeated, or missed


Cell = str | int | float | None | Interval | tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One record: its id and one cell a column; a ``muted`` row can be neither opened nor ticked."""

    id: str
    cells: tuple[Cell, ...]
    muted: bool = False


@dataclass(frozen=True, slots=True)
class TableEvent:
    """A click or key of the user: ``open`` a record, ``tick`` it, ``sort`` by a column, click a ``chip``."""

    kind: EventKind
    value: str


_component = component(
    "table", Path(__file__).parent, '<div class="table-root"></div>', palette=".table-root"
)


def table(
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    key: str,
    on_event: Callable[[TableEvent], None] = lambda event: None,
    on_open: Callable[[str], None] | None = None,
    action: Literal["none", "open", "tick"] = "none",
    **look: Any,
) -> None:
    """Draw a table; a click calls ``on_event``, or ``on_open`` with a row's id, before the page is drawn again.

    ``key`` is the table's identity in the app, ``action`` what a click on a row means; ``look`` as of `table_data`.
    """

    def on_change() -> None:
        event = event_from(component_event(key))
        if event is not None:
            on_event(event)
            if event.kind == "open" and on_open:
                on_open(event.value)

    data = table_data(columns, rows, action="open" if on_open else action, **look)
    _component(key=key, data={"key": key, **data}, on_event_change=on_change)


def table_data(  # noqa: PLR0913 - the whole table, by name
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    action: Literal["none", "open", "tick"] = "open",
    link: Callable[[str], str] = lambda row: "",
    chosen: Sequence[str] = (),
    sort: str = "",
    descending: bool = False,
    caption: str = "",
    empty: str = "",
    height: int | None = None,
) -> dict[str, Any]:
    """The JSON-able data of a table, with one cell a column in every row.

    ``link`` is the address of what it opens, by the row's id, for another tab;
    ``chosen`` are rows drawn so, ``sort`` is the key of the column that the caller has sorted by; ``caption`` names the
    table to screen readers, ``empty`` stands in place of no rows, and the table scrolls inside itself after ``height``
    pixels.
    """
    for row in rows:
        if len(row.cells) != len(columns):
            raise ValueError(f"row {row.id!r} has {len(row.cells)} cells for {len(columns)} columns")
    return {
        "columns": [asdict(column) for column in columns],
        "rows": [
            {"id": row.id, "cells": [*map(_cell, row.cells)], "muted": row.muted, "href": link(row.id)}
            for row in rows
        ],
        "action": action,
        "chosen": list(chosen),
        "sort": sort,
        "descending": descending,
        "caption": caption,
        "empty": empty,
        "height": height,
    }


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        return asdict(cell)
    return [asdict(chip) for chip in cell] if isinstance(cell, tuple) else cell


def event_from(payload: object) -> TableEvent | None:
    """The event that a browser's message stands for; ``None`` where it is not one of ours."""
    if not isinstance(payload, Mapping) or payload.get("kind") not in get_args(EventKind):
        return None
    value = payload.get("value")
    return TableEvent(payload["kind"], value) if isinstance(value, str) else None
