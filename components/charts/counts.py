"""How often each value occurs, and shares by place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import PERCENT_AXIS, styled

__all__ = ["histogram", "share_chart"]

_BARS: Final = 40


def histogram(frame: pd.DataFrame, title: str, of: str, colour: str) -> go.Figure:
    """How many have each value; many different values go into bins of one width.

    Parameters
    ----------
    frame : DataFrame
        Columns ``value`` (whole numbers) and ``n``.
    title, of : str
        What the values are, and what is counted.
    colour : str
        Of the bars.
    """
    values, counts = frame["value"].to_numpy(), frame["n"].to_numpy()
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    width = max(1, -(-(high - low + 1) // _BARS))
    starts = np.arange(low, high + 1, width)
    sums = np.bincount((values - low) // width, weights=counts, minlength=len(starts))
    spans = [f"{start}" if width == 1 else f"{start} to {start + width - 1}" for start in starts]
    figure = go.Figure()
    figure.add_bar(
        x=starts + (width - 1) / 2,
        y=sums,
        width=0.9 * width,
        marker={"color": colour, "line": {"width": 0}},
        customdata=spans,
        hovertemplate=f"%{{customdata}}: %{{y:,}} {escaped(of)}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title=escaped(title), rangemode="tozero")
    figure.update_yaxes(title=f"Number of {escaped(of)}", rangemode="tozero")
    return styled(figure, height=250)


def share_chart(
    frame: pd.DataFrame, columns: Sequence[tuple[str, str, str]], title: str, n: str
) -> go.Figure:
    """Shares in percent, one row a place, one bar a column.

    Parameters
    ----------
    frame : DataFrame
        ``where``, and a column of shares (0 to 1) for each of ``columns``.
    columns : sequence of (column, name, colour)
    title : str
        Of the axis, with its unit.
    n : str
        What the shares are of, for the hover.
    """
    figure = go.Figure()
    for column, name, colour in columns:
        figure.add_bar(
            y=[escaped(str(where)) for where in frame["where"]],
            x=100 * frame[column],
            name=escaped(name),
            orientation="h",
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=f"%{{y}}: %{{x:.1f}}% of {escaped(n)}<extra>{escaped(name)}</extra>",
        )
    figure.update_layout(barmode="group", bargap=0.3)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title=title, **PERCENT_AXIS)
    return styled(figure, height=90 + 44 * len(frame))
