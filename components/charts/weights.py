"""How much each group of features, or each feature, weighs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import styled

__all__ = ["weights_chart"]


def weights_chart(frame: pd.DataFrame, title: str, colour: str) -> go.Figure:
    """One bar a row, from top to bottom, from zero on, labelled with its value.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``moves`` (0 or more) and ``note`` (for the hover text).
    title : str
        Of the axis, with its unit.
    colour : str
    """
    rows = frame.to_dict("records")
    figure = go.Figure(
        go.Bar(
            x=[row["moves"] for row in rows],
            y=list(range(len(rows))),
            orientation="h",
            marker={"color": colour},
            text=[f"{row['moves']:.2f}" for row in rows],
            textposition="outside",
            textfont={"color": colour},
            cliponaxis=False,
            customdata=[escaped(row["note"]) for row in rows],
            hovertemplate="%{x:.3f} SD<br>%{customdata}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(rows))),
        ticktext=[escaped(row["name"]) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        automargin=True,
    )
    most = max((row["moves"] for row in rows), default=0.0)
    figure.update_xaxes(title=title, range=[0, 1.3 * most or 1])
    styled(figure, height=90 + 26 * len(rows))
    return figure.update_layout(margin={"t": 12}, bargap=0.35)
