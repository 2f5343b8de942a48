"""How charts look, and how one is drawn: a click is an event, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Any, Final, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from components.component import component
from evidencebench_core.words import file_stem, visible

PERCENT_AXIS: Final[dict[str, Any]] = {"range": [0, 102], "ticksuffix": "", "tick0": 0, "dtick": 25}
GREY: Final = "gray"


def styled_figure(figure: go.Figure, height: int) -> go.Figure:
    """The figure in the house style; colours of text and page come from Streamlit's theme."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0},
        font={"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13},
        hovermode="closest",
        dragmode=False,
    )
    axis = {"automargin": True, "zeroline": False, "title_standoff": 10}
    return figure.update_xaxes(axis).update_yaxes(axis)


def escaped_text(text: object) -> str:
    """Text for plotly, which reads a few HTML tags in labels, links among them."""
    return visible(str(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def folded_text(text: object, width: int) -> str:
    """The same in lines of at most so many characters: a phone has room for few."""
    return "<br>".join(escaped_text(line) for line in wrap(str(text), width))


def add_shares(
    figure: go.Figure,
    axis: Literal["x", "y"],
    rows: pd.DataFrame,
    value: str,
    places: Iterable[float],
    colour: str | None,
    marker: Mapping[str, Any] = MappingProxyType({}),
    **trace: Any,
) -> None:
    """Draw shares in percent with their intervals (and ``low``, ``high``) along an axis, at places on the other."""
    trace[axis], trace["y" if axis == "x" else "x"] = 100 * rows[value], list(places)
    above, below = 100 * (rows["high"] - rows[value]), 100 * (rows[value] - rows["low"])
    trace[f"error_{axis}"] = {
        "type": "data",
        "symmetric": False,
        "array": above.astype(float).clip(lower=0).fillna(0),
        "arrayminus": below.astype(float).clip(lower=0).fillna(0),
        "thickness": 1.5,
        "width": 3,
        "color": colour,
    }
    figure.add_scatter(
        **{"mode": "markers", "line": {"color": colour, "width": 1.5}, **trace},
        marker={"size": 9, "color": colour, **marker},
    )


def spread(place: int, of: int, gap: float) -> float:
    """How far the one at a place of so many is moved aside, so that no interval hides another."""
    return (place - (of - 1) / 2) * gap


def name_rows(figure: go.Figure, names: Sequence[object], width: int, top: float = 0.5) -> int:
    """Label the rows 0, 1, ... of a figure, from the ``top`` on; the most lines that a label takes."""
    texts = [folded_text(name, width) for name in names]
    room = [len(names) - 0.5, -top]
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=texts, range=room, showgrid=False)
    return max((text.count("<br>") + 1 for text in texts), default=1)


_CONFIG: Final = {"displayModeBar": False}
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
        st.plotly_chart(figure, key=key, alt=alt, config=_CONFIG, **select, **look)
        _files(key=f"files-{key}", data={"name": file_stem(key)})
