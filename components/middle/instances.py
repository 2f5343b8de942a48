"""The mark that was clicked, which the address remembers, and the instances behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.app.state import PageState
from components.widgets.chart import picked_point
from components.widgets.frame_table import first_shown, instance_table
from components.widgets.table import Column
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

Mark = tuple[str, str, str]  # panel, run id, place


def clicked_mark(state: PageState, event: Any, param: str = "mark") -> Mark | None:
    """The mark just clicked, or the one that the address names."""
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
    """A titled table of instances; a click opens the reader with the runs."""
    st.markdown(f"#### {title}")
    instance_table(
        columns,
        frame,
        place,
        runs,
        key=f"behind-{key}",
        caption=f"{title}; a click opens the reader",
        empty="No instance is behind this mark.",
        height=420,
    )
    st.caption(f"{len(frame):,} instances{first_shown(frame)}. A click opens one in the reader.")
