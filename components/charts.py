"""How a chart is drawn: a click is an event, once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

from components.component import component
from evidencebench_core.words import file_stem

_files: Final = component("chart_files", Path(__file__).parent, '<div class="files"></div>')


def is_dark() -> bool:
    return bool(st.context.theme.type == "dark")


def draw_chart(
    figure: go.Figure, *, key: str, alt: str, on_pick: Callable[[str], object] | None = None, **look: Any
) -> None:
    """Draw a figure, and the buttons that save it; ``on_pick`` hears the id of a mark that is clicked, once.

    What it shows is part of ``key``; ``alt`` is for a reader who cannot see it.
    """

    def pick() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points and on_pick:
            on_pick(str(points[0]["customdata"][0]))

    select: dict[str, Any] = {"on_select": pick, "selection_mode": "points"} if on_pick else {}
    with st.container(gap=None):
        st.plotly_chart(figure, key=key, alt=alt, config={"displayModeBar": False}, **select, **look)
        _files(key=f"files-{key}", data={"name": file_stem(key)})
