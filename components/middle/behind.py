"""The instances behind a mark, and how a mark is remembered in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.app.state import PageState, open_later
from components.middle.runs import reader_link
from components.widgets.chart import picked_point
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

__all__ = ["draw_instances", "marked"]

_SHOWN = 200


def marked(state: PageState, event: Any, param: str = "mark") -> tuple[str, str, str] | None:
    """The mark just clicked, or the one that the address names: panel, run id, place."""
    point = picked_point(event)
    if point and point.get("customdata"):
        state.put(**{param: ",".join(str(part) for part in point["customdata"])})
    parts = state[param].split(",")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def draw_instances(
    key: str,
    place: tuple[DatasetInfo, Task],
    runs: Sequence[RunInfo],
    title: str,
    columns: Sequence[Column],
    frame: pd.DataFrame,
) -> None:
    """A table of instances; a click opens the reader with the runs.

    Parameters
    ----------
    key : str
        Tells this table from others on the page.
    columns : sequence of Column
        Of ``frame``, by key; ``id`` is among them.
    """
    st.markdown(f"#### {title}")

    def heard(event: TableEvent) -> None:
        if event.kind == "open":
            open_later("browse", reader_link(*place, event.value, runs))

    names = [column.key for column in columns]
    rows = frame[names].head(_SHOWN).astype(object).where(frame[names].head(_SHOWN).notna(), None)
    table(
        columns,
        [Row(str(row["id"]), tuple(row[name] for name in names)) for row in rows.to_dict("records")],
        key=f"behind-{key}",
        on_event=heard,
        caption=f"{title}; a click opens the reader",
        empty="No instance is behind this mark.",
        height=420,
    )
    more = f"; the first {_SHOWN} are shown" if len(frame) > _SHOWN else ""
    st.caption(f"{len(frame):,} instances{more}. A click opens one in the reader.")
