"""Reliability: a map of models by tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import GREY, escaped_text, folded_text, name_rows, styled_figure
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE

MANY_NULLS: Final = 0.05  # from which on a square of the map is hatched
_SIDE: Final = 46  # pixels of a square
_STRONGEST: Final = 0.3  # the difference that has the full colour
_HATCH: Final = "M-21,-1L-1,-21M-21,19L19,-21M1,21L21,1"
_INK: Final = ("#1d1f21", "#e8e6e1")  # on a light page, on a dark one


def model_map(frame: pd.DataFrame, models: Sequence[str], dark: bool) -> go.Figure:
    """A square for each task and model: coloured by the difference to the baseline, hatched where many are null.

    ``models`` stand in this order. ``frame``: ``task`` and ``model`` (as they are called), ``text`` (in the square),
    ``difference`` (a share, -1 to 1; may be missing), ``null_rate``, ``hover`` and ``key``, with which a mark's
    ``customdata`` begins.
    """
    tasks = list(dict.fromkeys(frame["task"]))
    x, y = [models.index(name) for name in frame["model"]], [tasks.index(name) for name in frame["task"]]
    figure = go.Figure()
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        marker={
            "symbol": "square",
            "size": _SIDE,
            "opacity": 1,
            "color": [difference_colour(value, dark) for value in frame["difference"]],
            "line": {"width": 1, "color": GREY},
        },
        text=[escaped_text(text) for text in frame["text"]],
        textfont={"color": _INK[dark], "size": 12},
        customdata=[
            (key, escaped_text(hover)) for key, hover in zip(frame["key"], frame["hover"], strict=True)
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
        selected={"marker": {"opacity": 1}, "textfont": {"color": _INK[dark]}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": _INK[dark]}},
        cliponaxis=False,
        showlegend=False,
    )
    for place, rate in enumerate(frame["null_rate"]):
        if rate > MANY_NULLS:
            figure.add_shape(
                type="path",
                path=_HATCH,
                xsizemode="pixel",
                ysizemode="pixel",
                xanchor=x[place],
                yanchor=y[place],
                line={"width": 1, "color": _INK[dark]},
                opacity=0.3,
            )
    name_rows(figure, tasks, width=24)
    names = [folded_text(name, 10) for name in models]
    figure.update_xaxes(
        tickvals=list(range(len(models))),
        ticktext=names,
        range=[-0.6, len(models) - 0.4],
        side="top",
        showgrid=False,
        tickangle=0,
    )
    return styled_figure(figure, height=70 + (_SIDE + 8) * len(tasks))


def difference_colour(difference: float, dark: bool) -> str:
    """The fill of a square: the page's for no difference or none known, blue for better, red for worse."""
    page = DARK_PAGE if dark else LIGHT_PAGE
    if math.isnan(difference):
        return page
    hue = CHANGES["better" if difference > 0 else "worse"].on(dark)
    weight = 0.62 * min(1.0, abs(difference) / _STRONGEST)
    mixed = (
        round((1 - weight) * int(page[i : i + 2], 16) + weight * int(hue[i : i + 2], 16)) for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)
