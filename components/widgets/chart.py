"""Drawing a figure: the same everywhere, with text that stands out in both themes."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

_INK: Final = {False: "#3c4043", True: "#d5d3ce"}
_CONFIG: Final = {"displayModeBar": False}


def is_dark() -> bool:
    """Whether the page is drawn dark."""
    return bool(st.context.theme.type == "dark")


def draw_chart(figure: go.Figure, *, key: str, alt: str, clickable: bool = False) -> Any:
    """Draw a figure.

    Parameters
    ----------
    key : str
        Identity of the chart on the page; make what it shows part of it.
    alt : str
        What a reader who cannot see it should know.
    clickable : bool
        Whether a click on a mark selects it (see `picked_point`).

    Returns
    -------
    The chart's event where it is clickable, else nothing of use.
    """
    ink = _INK[is_dark()]
    figure.update_xaxes(title_font_color=ink, tickfont_color=ink)
    figure.update_yaxes(title_font_color=ink, tickfont_color=ink)
    figure.update_annotations(font_color=ink)
    figure.update_layout(legend_font_color=ink)
    if clickable:
        return st.plotly_chart(
            figure, key=key, alt=alt, config=_CONFIG, on_select="rerun", selection_mode="points"
        )
    return st.plotly_chart(figure, key=key, alt=alt, config=_CONFIG)


def picked_point(event: Any) -> dict[str, Any] | None:
    """The mark that was clicked, as plotly describes it."""
    points = event["selection"]["points"] if event else []
    return dict(points[0]) if points else None
