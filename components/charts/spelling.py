"""Recall against the number of misspelt words."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import styled

__all__ = ["spelling_chart"]


def spelling_chart(frame: pd.DataFrame) -> go.Figure:
    """A line a system with 95% intervals; the numbers of errors stand at equal distances.

    Parameters
    ----------
    frame : DataFrame
        Columns ``group``, ``colour``, ``errors``, ``n``, ``n_capped``, ``mean_errors``, ``recall``,
        ``recall_low``, ``recall_high`` (0 to 1, may be missing).
    """
    figure = go.Figure()
    counts = sorted(set(frame["errors"]))
    groups = list(dict.fromkeys(frame["group"]))
    top = float(frame[["recall", "recall_high"]].fillna(0).to_numpy().max(initial=0.0))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["recall"].notna()]
        centre, colour = 100 * rows["recall"], rows["colour"].iloc[0] if len(rows) else None
        figure.add_scatter(
            x=[counts.index(count) + (place - (len(groups) - 1) / 2) * 0.07 for count in rows["errors"]],
            y=centre,
            mode="lines+markers",
            name=escaped(str(group)),
            line={"color": colour},
            marker={"size": 8},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (100 * rows["recall_high"] - centre).fillna(0),
                "arrayminus": (centre - 100 * rows["recall_low"]).fillna(0),
                "color": colour,
                "thickness": 1.5,
                "width": 4,
            },
            customdata=rows[["n", "n_capped", "mean_errors", "errors"]],
            hovertemplate=f"{escaped(str(group))}: %{{y:.1f}}%<br>%{{customdata[3]}} errors asked for, "
            "%{customdata[2]:.1f} made on average<br>n = %{customdata[0]}, capped: %{customdata[1]}<extra></extra>",
        )
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(counts))),
        ticktext=[str(count) for count in counts],
        title="Misspelt words asked for (not to scale)",
    )
    figure.update_yaxes(title="Aspect Recall, %", range=[0, min(102.0, 108 * top) or 102.0])
    return styled(figure, height=360)
