"""Differences of means with their intervals, in points, around a line at no difference."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import styled

__all__ = ["difference_chart"]


def difference_chart(frame: pd.DataFrame, title: str) -> go.Figure:
    """A dot and its 95% interval a row; groups of one name stand together.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``group`` (what the colour stands for), ``difference``, ``low``, ``high`` (shares,
        -1 to 1; may be missing), ``n``, ``colour``; drawn from top to bottom.
    title : str
        Of the axis, with its unit.
    """
    figure = go.Figure()
    names = list(dict.fromkeys(frame["name"]))
    groups = list(dict.fromkeys(frame["group"]))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["difference"].notna()]
        shift = (place - (len(groups) - 1) / 2) * 0.22
        centre = 100 * rows["difference"]
        figure.add_scatter(
            x=centre,
            y=[names.index(name) + shift for name in rows["name"]],
            mode="markers",
            name=escaped(str(group)),
            marker={"size": 9, "color": list(rows["colour"])},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (100 * rows["high"] - centre).fillna(0),
                "arrayminus": (centre - 100 * rows["low"]).fillna(0),
                "color": rows["colour"].iloc[0] if len(rows) else None,
                "thickness": 2,
                "width": 4,
            },
            customdata=rows["n"],
            hovertemplate=f"{escaped(str(group))}: %{{x:+.1f}} points<br>n = %{{customdata}}<extra></extra>",
            showlegend=len(groups) > 1,
        )
    figure.add_vline(x=0, line={"width": 1, "color": "gray"})
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[escaped(str(name)) for name in names],
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
    )
    figure.update_xaxes(title=title)
    return styled(figure, height=100 + 24 * len(names) * max(1, len(groups)))
