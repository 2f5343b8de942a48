"""The three figures, and how they look: interval dots, lines, squares.

Shares come as 0 to 1 and are drawn in percent. Every frame may have ``id``: what a click on the mark means; it is the
first part of the mark's ``customdata``. Columns in brackets may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from evidencebench_core.palette import CHANGES, PAGE
from evidencebench_core.words import visible

_PERCENT_AXIS: Final[dict[str, Any]] = {"range": [0, 102], "ticksuffix": "", "tick0": 0, "dtick": 25}
_GREY: Final = "gray"
_INK: Final = ("#1d1f21", "#f4f2ee")  # on a light page, on a dark one


def interval_dots(frame: pd.DataFrame, title: str, *, differences: bool = False) -> go.Figure:
    """Values with their 95% intervals, a row a name, from top to bottom; groups of one name stand together.

    ``frame``: ``name``, ``value``, ``low``, ``high`` (NaN: none), ``n``, [``group``, ``colour``, ``id``]. ``title`` is
    the axis's. ``differences`` are points around a line at none, in place of shares from 0 to 100%.
    """
    frame = _with_defaults(frame, group="", colour=_GREY)
    figure, names = go.Figure(), list(dict.fromkeys(frame["name"]))
    groups = list(dict.fromkeys(frame["group"]))
    middle = (len(groups) - 1) / 2  # groups are moved aside, so that no interval hides another
    unit = ":+.1f} points" if differences else ":.1f}%"
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["value"].notna()]
        _add_shares(
            figure,
            "x",
            rows,
            [names.index(name) + 0.22 * (place - middle) for name in rows["name"]],
            size=10,
            mode="markers",
            name=_escaped_text(group),
            customdata=rows[["id", "n"]],
            hovertemplate=f"%{{x{unit}<br>n = %{{customdata[1]:,}}<extra>{_escaped_text(group)}</extra>",
            cliponaxis=False,
            showlegend=len(groups) > 1,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 0.6}},
        )
    if differences:
        figure.add_vline(x=0, line={"width": 1, "color": _GREY})
    n_lines, title = _name_rows(figure, names, top=0.7, width=28), _folded_text(title, 26)
    figure.update_xaxes(title=title, **({} if differences else _PERCENT_AXIS))
    height = 90 + 17 * title.count("<br>") + max(34, 17 * n_lines, 20 * len(groups)) * len(names)
    return _styled_figure(figure, height).update_layout(margin={"t": 24})


def lines(frame: pd.DataFrame, x_title: str, y_title: str) -> go.Figure:
    """Shares along an axis of numbers, a line a name, with their intervals.

    ``frame``: ``name``, ``x``, ``value``, [``low``, ``high``, ``n``, ``colour``, ``dashed``, ``id``].
    """
    frame = _with_defaults(frame, low=np.nan, high=np.nan, n=np.nan, colour=_GREY, dashed=False)
    figure = go.Figure()
    for name, rows in frame.groupby("name", sort=False):
        colour, dash = rows["colour"].iloc[0], "dot" if rows["dashed"].iloc[0] else "solid"
        _add_shares(
            figure,
            "y",
            rows,
            rows["x"],
            size=6,
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": dash},
            name=_escaped_text(name),
            customdata=rows[["id", "n"]],
            hovertemplate="%{y:.1f}%<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title=_escaped_text(x_title), rangemode="tozero")
    figure.update_yaxes(title=_escaped_text(y_title), **_PERCENT_AXIS)
    return _styled_figure(figure, 280)


def squares(
    frame: pd.DataFrame,
    rows: Mapping[str, str],
    columns: Mapping[str, str],
    *,
    strongest: float,
    dark: bool = False,
    step: int = 44,
) -> go.Figure:
    """A value printed in the square of each row and column, blue above 0, orange below.

    ``frame``: ``row``, ``column``, ``value`` (NaN: the page's colour), ``text``, ``hover``, [``framed``, ``id``].
    ``rows`` and ``columns`` are keys and labels, from the top and from the left, ``step`` pixels apart; the value
    ``strongest`` has the full colour.
    """
    frame = _with_defaults(frame, framed=False)
    side = min(step, 44)
    ink = {"color": _INK[dark], "size": 12 if side == 44 else 10}
    figure = go.Figure()
    figure.add_scatter(
        x=[list(columns).index(key) for key in frame["column"]],
        y=[list(rows).index(key) for key in frame["row"]],
        mode="markers+text",
        marker={
            "symbol": "square",
            "size": side - 4,
            "opacity": 1,
            "color": [difference_colour(value / strongest, dark) for value in frame["value"]],
            "line": {"width": [2 if framed else 0.5 for framed in frame["framed"]], "color": _GREY},
        },
        text=[_escaped_text(text) for text in frame["text"]],
        textfont=ink,
        customdata=frame[["id"]].assign(hover=frame["hover"].map(_escaped_text)),
        hovertemplate="%{customdata[1]}<extra></extra>",
        selected={"marker": {"opacity": 1}, "textfont": {"color": ink["color"]}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": ink["color"]}},
        cliponaxis=False,
        showlegend=False,
    )
    _name_rows(figure, list(rows.values()), width=24)
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[_folded_text(label, 12) for label in columns.values()],
        range=[-0.6, len(columns) - 0.4],
        side="top",
        showgrid=False,
        tickangle=0,
    )
    figure = _styled_figure(figure, 70 + (side + (0 if step == side else 8)) * len(rows))
    return figure.update_layout(width=200 + step * len(columns), margin={"t": 30})


def difference_colour(strength: float, dark: bool) -> str:
    """The fill of a square, on which ink has a contrast of 4.5: the page's for 0 or none, full from 1 or -1 on."""
    page = PAGE.on(dark)
    if math.isnan(strength):
        return page
    hue = CHANGES["better" if strength > 0 else "worse"].on(dark)
    weight = 0.6 * min(1.0, abs(strength))
    channels = [(int(page[i : i + 2], 16), int(hue[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round((1 - weight) * ground + weight * full):02x}" for ground, full in channels)


def _with_defaults(frame: pd.DataFrame, **defaults: object) -> pd.DataFrame:
    """The frame with the columns that it lacks; ``id`` is the place of the row."""
    lacking: dict[str, Any] = {name: value for name, value in defaults.items() if name not in frame}
    if "id" not in frame:
        lacking["id"] = [str(place) for place in range(len(frame))]
    return frame.assign(**lacking)


# -- how they look -------------------------------------------------------------------------------------


def _styled_figure(figure: go.Figure, height: int) -> go.Figure:
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


def _escaped_text(text: object) -> str:
    """Text for plotly, which reads a few HTML tags in labels, links among them."""
    return visible(str(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _folded_text(text: object, width: int) -> str:
    """The same in lines of at most so many characters: a phone has room for few."""
    return "<br>".join(_escaped_text(line) for line in wrap(str(text), width))


def _add_shares(
    figure: go.Figure,
    axis: Literal["x", "y"],
    rows: pd.DataFrame,
    places: Iterable[float],
    size: int,
    **trace: Any,
) -> None:
    """Draw shares in percent with their intervals along an axis, at places on the other; ``size`` is a mark's."""
    trace[axis], trace["y" if axis == "x" else "x"] = 100 * rows["value"], list(places)
    above, below = 100 * (rows["high"] - rows["value"]), 100 * (rows["value"] - rows["low"])
    trace[f"error_{axis}"] = {
        "type": "data",
        "symmetric": False,
        "array": above.astype(float).clip(lower=0).fillna(0),
        "arrayminus": below.astype(float).clip(lower=0).fillna(0),
        "thickness": 1.5,
        "width": 3,
        "color": rows["colour"].iloc[0] if len(rows) else None,
    }
    figure.add_scatter(marker={"size": size, "color": list(rows["colour"])}, **trace)


def _name_rows(figure: go.Figure, names: Sequence[object], width: int, top: float = 0.5) -> int:
    """Label the rows 0, 1, ... of a figure, from the ``top`` on; the most lines that a label takes."""
    texts = [_folded_text(name, width) for name in names]
    room = [len(names) - 0.5, -top]
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=texts, range=room, showgrid=False)
    return max((text.count("<br>") + 1 for text in texts), default=1)
