"""The three figures: interval dots, lines, squares.

Shares come as 0 to 1 and are drawn in percent.

Every frame may have ``id``: what a click on the mark means; it is the first part of the mark's ``customdata``.
Columns in brackets may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from components.charts import (
    GREY,
    PERCENT_AXIS,
    add_shares,
    escaped_text,
    folded_text,
    name_rows,
    spread,
    styled_figure,
)
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE

_INK: Final = ("#1d1f21", "#f4f2ee")  # on a light page, on a dark one


def interval_dots(frame: pd.DataFrame, title: str, *, differences: bool = False) -> go.Figure:
    """Values with their 95% intervals, a row a name, from top to bottom; groups of one name stand together.

    ``frame``: ``name``, ``value``, ``low``, ``high`` (NaN: none), ``n``, [``group``, ``colour``, ``id``]. ``title`` is
    the axis's. ``differences`` are points around a line at none, in place of shares from 0 to 100%.
    """
    frame = _with_defaults(frame, group="", colour=GREY)
    figure, names = go.Figure(), list(dict.fromkeys(frame["name"]))
    groups = list(dict.fromkeys(frame["group"]))
    unit = ":+.1f} points" if differences else ":.1f}%"
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["value"].notna()]
        add_shares(
            figure,
            "x",
            rows,
            "value",
            [names.index(name) + spread(place, len(groups), 0.22) for name in rows["name"]],
            rows["colour"].iloc[0] if len(rows) else None,
            {"size": 10, "color": list(rows["colour"])},
            name=escaped_text(group),
            customdata=rows[["id", "n"]],
            hovertemplate=f"%{{x{unit}<br>n = %{{customdata[1]:,}}<extra>{escaped_text(group)}</extra>",
            cliponaxis=False,
            showlegend=len(groups) > 1,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 0.6}},
        )
    if differences:
        figure.add_vline(x=0, line={"width": 1, "color": GREY})
    n_lines, title = name_rows(figure, names, top=0.7, width=28), folded_text(title, 26)
    figure.update_xaxes(title=title, **({} if differences else PERCENT_AXIS))
    height = 90 + 17 * title.count("<br>") + max(34, 17 * n_lines, 20 * len(groups)) * len(names)
    return styled_figure(figure, height).update_layout(margin={"t": 24})


def lines(frame: pd.DataFrame, x_title: str, y_title: str) -> go.Figure:
    """Shares along an axis of numbers, a line a name, with their intervals.

    ``frame``: ``name``, ``x``, ``value``, [``low``, ``high``, ``n``, ``colour``, ``dashed``, ``id``].
    """
    frame = _with_defaults(frame, low=np.nan, high=np.nan, n=np.nan, colour=GREY, dashed=False)
    figure = go.Figure()
    for name, rows in frame.groupby("name", sort=False):
        colour, dash = rows["colour"].iloc[0], "dot" if rows["dashed"].iloc[0] else "solid"
        add_shares(
            figure,
            "y",
            rows,
            "value",
            rows["x"],
            colour,
            {"size": 6},
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": dash},
            name=escaped_text(name),
            customdata=rows[["id", "n"]],
            hovertemplate="%{y:.1f}%<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title=escaped_text(x_title), rangemode="tozero")
    figure.update_yaxes(title=escaped_text(y_title), **PERCENT_AXIS)
    return styled_figure(figure, 280)


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
            "line": {"width": [2 if framed else 0.5 for framed in frame["framed"]], "color": GREY},
        },
        text=[escaped_text(text) for text in frame["text"]],
        textfont=ink,
        customdata=frame[["id"]].assign(hover=frame["hover"].map(escaped_text)),
        hovertemplate="%{customdata[1]}<extra></extra>",
        selected={"marker": {"opacity": 1}, "textfont": {"color": ink["color"]}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": ink["color"]}},
        cliponaxis=False,
        showlegend=False,
    )
    name_rows(figure, list(rows.values()), width=24)
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=[folded_text(label, 12) for label in columns.values()],
        range=[-0.6, len(columns) - 0.4],
        side="top",
        showgrid=False,
        tickangle=0,
    )
    figure = styled_figure(figure, 70 + (side + (0 if step == side else 8)) * len(rows))
    return figure.update_layout(width=200 + step * len(columns), margin={"t": 30})


def difference_colour(strength: float, dark: bool) -> str:
    """The fill of a square, on which ink has a contrast of 4.5: the page's for 0 or none, full from 1 or -1 on."""
    page = DARK_PAGE if dark else LIGHT_PAGE
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
