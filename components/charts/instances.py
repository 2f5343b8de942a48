"""Instance by instance: two systems against each other, and one system from wording to wording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from components.charts.style import DOTTED, PERCENT_AXIS, escaped_text, name_steps, styled_figure

LINES_AT_MOST: Final = 400
_STEPS: Final = 20  # of 5 points each
_RANKS: Final = {"better": 1, "same": 2, "worse": 3}


def recall_scatter(frame: pd.DataFrame, name_a: str, name_b: str, colour: str) -> go.Figure:
    """Per-instance recall of system a against system b, with the diagonal where they are level.

    ``frame``: ``id`` (names the instances), ``a``, ``b`` and ``n``: how many instances share the point.
    """
    figure = go.Figure()
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, line=DOTTED)
    figure.add_scatter(
        x=100 * frame["b"],
        y=100 * frame["a"],
        customdata=frame[["id", "n"]].assign(shown=frame["id"].map(escaped_text)),
        mode="markers",
        marker={"size": 6 + 4 * frame["n"] ** 0.5, "color": colour, "opacity": 0.65},
        cliponaxis=False,
        unselected={"marker": {"opacity": 0.65}},
        selected={"marker": {"opacity": 1}},
        hovertemplate="%{customdata[2]}<br>"
        + f"{escaped_text(name_a)}: %{{y:.1f}}%<br>{escaped_text(name_b)}: %{{x:.1f}}%<extra></extra>",
        showlegend=False,
    )
    for x, y, name in ((3, 97, name_a), (97, 3, name_b)):
        figure.add_annotation(
            x=x,
            y=y,
            text=f"{escaped_text(name)} ahead",
            showarrow=False,
            xanchor="left" if x < 50 else "right",
        )
    axis = PERCENT_AXIS | {"range": [-2, 102]}
    figure.update_xaxes(title=f"Aspect Recall of {escaped_text(name_b)}, %", **axis)
    figure.update_yaxes(title=f"Aspect Recall of {escaped_text(name_a)}, %", **axis)
    return styled_figure(figure, height=440)


def slope_lines(frame: pd.DataFrame, before: str, after: str) -> tuple[pd.DataFrame, bool]:
    """The lines of a `slope_chart`, and whether their ends had to be rounded.

    ``frame``: ``instance`` and two columns of shares, named ``before`` and ``after``. Instances that move alike
    share a line; of more than `LINES_AT_MOST` lines the ends go to the nearest 5 points, so that every instance
    stays in the figure. Returns ``way`` (``"better"``, ``"same"``, ``"worse"``, by the exact shares),
    ``before``, ``after``, ``first`` (an instance) and ``size`` (how many there are).
    """
    ends = pd.DataFrame({"instance": frame["instance"], "before": frame[before], "after": frame[after]})
    change = ends["after"] - ends["before"]
    ends["way"] = ["better" if c > 1e-9 else "worse" if c < -1e-9 else "same" for c in change]
    of_line = ["way", "before", "after"]
    if rounded := len(ends.drop_duplicates(of_line)) > LINES_AT_MOST:
        ends[["before", "after"]] = (ends[["before", "after"]] * _STEPS).round() / _STEPS
    lines = ends.groupby(of_line, sort=False)["instance"].agg(["first", "size"]).reset_index()
    return lines, rounded


def slope_chart(lines: pd.DataFrame, names: tuple[str, str], colours: Mapping[str, str]) -> go.Figure:
    """Recall of instances from one side to the other, better, the same or worse; a wider line is more instances.

    ``lines`` are of `slope_lines`, ``names`` of the two sides, ``colours`` by way. The marks' ``customdata``: how
    many instances move like this, and the first.
    """
    figure = go.Figure()
    most = float(np.log(max(lines["size"].max(), 64))) if len(lines) else 1.0
    widths = (1 + 6 * np.log(lines["size"]) / most).round()
    for way in ("same", "worse", "better"):  # what changed lies on top
        chosen = lines[lines["way"] == way]
        name = f"{way}: {chosen['size'].sum():,}"
        look = {"name": name, "legendgroup": way, "legendrank": _RANKS[way]}
        figure.add_scatter(x=[None], y=[None], mode="lines", line={"color": colours[way], "width": 4}, **look)
        for width, rows in chosen.groupby(widths[chosen.index]):
            x: list[int | None] = []
            y: list[float | None] = []
            data: list[list[object]] = []
            for row in rows.to_dict("records"):
                x += [0, 1, None]
                y += [100 * row["before"], 100 * row["after"], None]
                data += [[row["size"], row["first"], escaped_text(row["first"])]] * 3
            figure.add_scatter(
                x=x,
                y=y,
                customdata=data,
                mode="lines+markers",
                line={"width": float(width), "color": colours[way]},
                marker={"size": 5 + float(width)},
                opacity=0.4 if way == "same" else 0.65,
                hovertemplate="%{y:.1f}%<br>on this line: %{customdata[0]:,}<br>%{customdata[2]}<extra></extra>",
                showlegend=False,
                **look,
            )
    name_steps(figure, names, "")
    figure.update_xaxes(range=[-0.18, 1.18], showgrid=False)
    figure.update_yaxes(title="Aspect Recall of an instance, %", **(PERCENT_AXIS | {"range": [-3, 103]}))
    return styled_figure(figure, height=420)
