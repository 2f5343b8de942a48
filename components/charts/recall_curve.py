"""Aspect Recall by the number of picks."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import PERCENT_AXIS, styled

__all__ = ["recall_curve"]


def recall_curve(curves: pd.DataFrame, colours: dict[str, str], dashed: tuple[str, ...] = ()) -> go.Figure:
    """Recall so far after each pick, one line a selection, labelled at its end.

    Parameters
    ----------
    curves : DataFrame
        Columns ``name``, ``pick`` (1-based; 0 is before the first) and ``recall`` (0 to 1).
    colours : dict
        Colour of each name.
    dashed : tuple of str
        Names drawn dashed: the references.
    """
    figure = go.Figure()
    for name, curve in curves.groupby("name", sort=False):
        figure.add_scatter(
            x=curve["pick"],
            y=100 * curve["recall"],
            name=str(name),
            mode="lines+markers",
            line={"color": colours[str(name)], "dash": "dot" if name in dashed else "solid", "width": 2},
            marker={"size": 5},
            hovertemplate="%{y:.1f}% after %{x} sentences<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="Sentences picked", rangemode="tozero", dtick=_tick(curves["pick"].max()))
    figure.update_yaxes(title="Aspect Recall so far, %", **PERCENT_AXIS)
    return styled(figure, height=260)


def _tick(last: int) -> int:
    return max(1, round(last / 8))
