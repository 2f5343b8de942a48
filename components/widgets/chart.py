"""Drawing a figure: the same everywhere; `page.css` gives its text the colour of the page's."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

_CONFIG: Final = {"displayModeBar": False}


def is_dark() -> bool:
    """Whether the page is drawn dark."""
    return bool(st.context.theme.type == "dark")


def draw_chart(figure: go.Figure, *, key: str, alt: str, clickable: bool = False, **look: Any) -> Any:
    """Draw a figure; returns its event (see `picked_point`) where a click on a mark selects it.

    What it shows is part of ``key``; ``alt`` is for a reader who cannot see it.
    """
    select: dict[str, Any] = {"on_select": "rerun", "selection_mode": "points"} if clickable else {}
    event = st.plotly_chart(figure, key=key, alt=alt, config=_CONFIG, **select, **look)
    return event if clickable else None


def picked_point(event: Any) -> dict[str, Any] | None:
    """The mark that was clicked, as plotly describes it."""
    points = event["selection"]["points"] if event else []
    return dict(points[0]) if points else None
