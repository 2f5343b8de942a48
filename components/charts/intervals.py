"""Means with their intervals, one row a run."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import PERCENT_AXIS, styled

__all__ = ["interval_chart"]


def interval_chart(
    frame: pd.DataFrame, title: str, random: float | None = None, ceiling: float | None = None
) -> go.Figure:
    """A dot and its 95% interval per row, with chance and ceiling as labelled lines.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``recall``, ``low``, ``high`` (0 to 1, may be missing), ``n``, ``colour``;
        drawn from top to bottom.
    title : str
        Of the axis, with its unit.
    random, ceiling : float or None
        Shares at which a line is drawn.
    """
    figure = go.Figure()
    for place, row in enumerate(frame.to_dict("records")):
        known = pd.notna(row["low"])
        figure.add_scatter(
            x=[100 * row["recall"]],
            y=[place],
            mode="markers",
            marker={"size": 10, "color": row["colour"]},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [100 * (row["high"] - row["recall"]) if known else 0],
                "arrayminus": [100 * (row["recall"] - row["low"]) if known else 0],
                "color": row["colour"],
                "thickness": 2,
                "width": 4,
            },
            hovertemplate=f"%{{x:.1f}}%<br>n = {row['n']}<extra></extra>",
            showlegend=False,
        )
    for share, label in ((random, "random"), (ceiling, "ceiling")):
        if share is not None:
            figure.add_vline(
                x=100 * share,
                line={"dash": "dot", "width": 1, "color": "gray"},
                annotation={"text": label, "font": {"size": 12}},
                annotation_position="top",
            )
    names = [f"{row['name']} (n = {row['n']})" for row in frame.to_dict("records")]
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[escaped(name) for name in names],
        range=[len(names) - 0.5, -0.7],
        showgrid=False,
    )
    figure.update_xaxes(title=title, **PERCENT_AXIS)
    styled(figure, height=90 + 34 * len(names))
    return figure.update_layout(margin={"t": 24})


def escaped(text: str) -> str:
    """Text for plotly, which reads a few HTML tags in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
