"""Bars: how often each value occurs, shares by place, weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from components.charts.style import PERCENT_AXIS, escaped_text, styled_figure

_BARS: Final = 40


def histogram(frame: pd.DataFrame, title: str, of: str, colour: str) -> go.Figure:
    """How many of something (``of``) have each value; many different values go into bins of one width.

    ``frame``: ``value`` (whole numbers) and ``n``.
    """
    values, counts = frame["value"].to_numpy(), frame["n"].to_numpy()
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    width = max(1, -(-(high - low + 1) // _BARS))
    starts = np.arange(low, high + 1, width)
    figure = go.Figure()
    figure.add_bar(
        x=starts + (width - 1) / 2,
        y=np.bincount((values - low) // width, weights=counts, minlength=len(starts)),
        width=0.9 * width,
        marker={"color": colour, "line": {"width": 0}},
        customdata=[f"{start}" if width == 1 else f"{start} to {start + width - 1}" for start in starts],
        hovertemplate=f"%{{customdata}}: %{{y:,}} {escaped_text(of)}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title=escaped_text(title), rangemode="tozero")
    figure.update_yaxes(title=f"Number of {escaped_text(of)}", rangemode="tozero")
    return styled_figure(figure, height=250)


def share_chart(
    frame: pd.DataFrame, columns: Sequence[tuple[str, str, str]], title: str, n: str
) -> go.Figure:
    """Shares of ``n``, one row a place (``where``), one bar for each of ``columns``: column, name, colour."""
    figure = go.Figure()
    for column, name, colour in columns:
        figure.add_bar(
            y=[escaped_text(where) for where in frame["where"]],
            x=100 * frame[column],
            name=escaped_text(name),
            orientation="h",
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=f"%{{y}}: %{{x:.1f}}% of {escaped_text(n)}<extra>{escaped_text(name)}</extra>",
        )
    figure.update_layout(barmode="group", bargap=0.3)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title=escaped_text(title), **PERCENT_AXIS)
    return styled_figure(figure, height=90 + 44 * len(frame))
