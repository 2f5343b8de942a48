"""Evidence at the ends against evidence elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.positions import GREY, whiskers
from components.charts.style import styled

__all__ = ["ends_chart", "ends_histogram"]


def ends_histogram(frame: pd.DataFrame, below: float, above: float, colour: str) -> go.Figure:
    """How many instances have how much of their aspects covered by the ends.

    Parameters
    ----------
    frame : DataFrame
        Columns ``low``, ``high`` (edges, 0 to 1) and ``n``; one row a bar.
    below, above : float
        The thresholds, 0 to 1.

    Returns
    -------
    Figure
        ``customdata`` of a bar is ("coverage", "", number of the bar from 0).
    """
    figure = go.Figure()
    figure.add_bar(
        x=50 * (frame["low"] + frame["high"]),
        y=frame["n"],
        width=90 * (frame["high"] - frame["low"]),
        marker={"color": colour, "opacity": 0.7},
        customdata=[("coverage", "", place) for place in range(len(frame))],
        text=[
            f"{100 * low:g} to {100 * high:g}%" for low, high in zip(frame["low"], frame["high"], strict=True)
        ],
        textposition="none",
        hovertemplate="%{text}: %{y} instances<extra></extra>",
        showlegend=False,
    )
    for share in (below, above):
        figure.add_vline(x=100 * share, line={"dash": "dot", "width": 1.5, "color": GREY})
    figure.update_xaxes(title="Aspects covered by the ends, %", range=[0, 100], dtick=20, showgrid=False)
    figure.update_yaxes(title="Instances", rangemode="tozero")
    return styled(figure, height=260)


def ends_chart(frame: pd.DataFrame, groups: Sequence[str]) -> go.Figure:
    """Recall by group, one row a system.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``run`` (id, ``""`` for a published figure), ``group``, ``recall``, ``low``,
        ``high``, ``chance`` (0 to 1, may be missing), ``n``, ``colour``.
    groups : sequence of str
        In the order of the legend.

    Returns
    -------
    Figure
        ``customdata`` of a mark is ("ends", run id, group).
    """
    figure = go.Figure()
    names = list(dict.fromkeys(frame["name"]))
    symbols = dict(zip(groups, ("circle", "diamond-open", "square-open"), strict=True))
    for place, group in enumerate(groups):
        rows = frame[frame["group"] == group]
        heights = [names.index(name) + 0.22 * (place - 1) for name in rows["name"]]
        figure.add_scatter(
            x=100 * rows["chance"],
            y=heights,
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 12, "color": GREY},
            name="as many random picks",
            legendgroup="chance",
            showlegend=place == 0,
            hovertemplate="%{x:.1f}% by random picks<extra></extra>",
        )
        for row, height in zip(rows.to_dict("records"), heights, strict=True):
            figure.add_scatter(
                x=[100 * row["recall"]],
                y=[height],
                mode="markers",
                marker={"symbol": symbols[group], "size": 11, "color": row["colour"], "line": {"width": 2}},
                error_x=whiskers(pd.DataFrame([row]), "recall", "low", "high", row["colour"]),
                customdata=[("ends", row["run"], group)],
                hovertemplate=f"%{{x:.1f}}%, n = {row['n']:,} instances<extra>{group}</extra>",
                showlegend=False,
            )
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": symbols[group], "size": 11, "color": GREY, "line": {"width": 2}},
            name=group,
        )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[escaped(name) for name in names],
        range=[len(names) - 0.4, -0.6],
        showgrid=False,
    )
    figure.update_xaxes(title="Aspect Recall, %", range=[-2, 102], tick0=0, dtick=25)
    return styled(figure, height=110 + 62 * len(names))
