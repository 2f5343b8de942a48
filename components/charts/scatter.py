"""Two systems, instance by instance."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import PERCENT_AXIS, styled

__all__ = ["recall_scatter"]


def recall_scatter(frame: pd.DataFrame, name_a: str, name_b: str, colour: str) -> go.Figure:
    """Per-instance recall of system a against system b, with the diagonal where they are level.

    Parameters
    ----------
    frame : DataFrame
        Columns ``id``, ``a``, ``b`` (0 to 1) and ``n``: how many instances share the point. One row a
        point; ``id`` names its instances.
    colour : str
        Of the points.
    """
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 100],
        y=[0, 100],
        mode="lines",
        line={"dash": "dot", "width": 1, "color": "gray"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=100 * frame["b"],
        y=100 * frame["a"],
        customdata=frame[["id", "n"]],
        mode="markers",
        marker={"size": 6 + 4 * frame["n"] ** 0.5, "color": colour, "opacity": 0.65},
        cliponaxis=False,
        unselected={"marker": {"opacity": 0.65}},
        selected={"marker": {"opacity": 1}},
        hovertemplate="%{customdata[0]}<br>"
        + f"{escaped(name_a)}: %{{y:.1f}}%<br>{escaped(name_b)}: %{{x:.1f}}%<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title=f"Aspect Recall of {escaped(name_b)}, %", **PERCENT_AXIS)
    figure.update_yaxes(title=f"Aspect Recall of {escaped(name_a)}, %", **PERCENT_AXIS)
    for x, y, name in ((3, 97, name_a), (97, 3, name_b)):
        figure.add_annotation(
            x=x, y=y, text=f"{escaped(name)} ahead", showarrow=False, xanchor="left" if x < 50 else "right"
        )
    figure.update_xaxes(range=[-2, 102])
    figure.update_yaxes(range=[-2, 102])
    return styled(figure, height=440)
