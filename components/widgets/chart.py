"""Drawing a figure: the same everywhere; `page.css` gives its text the colour of the page's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

_CONFIG: Final = {"displayModeBar": False}


def is_dark() -> bool:
    """Whether the page is drawn dark."""
    return bool(st.context.theme.type == "dark")


def draw_chart(
    figure: go.Figure, *, key: str, alt: str, on_pick: Callable[[str], object] | None = None, **look: Any
) -> None:
    """Draw a figure; ``on_pick`` is called with the id of a mark when that is clicked, and at no other time.

    What it shows is part of ``key``; ``alt`` is for a reader who cannot see it.
    """

    def pick(on_pick: Callable[[str], object]) -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            on_pick(str(points[0]["customdata"][0]))

    select: dict[str, Any] = {}
    if on_pick is not None:
        select = {"on_select": partial(pick, on_pick), "selection_mode": "points"}
    st.plotly_chart(figure, key=key, alt=alt, config=_CONFIG, **select, **look)
