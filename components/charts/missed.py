"""The share of aspects that a run missed, bin by bin."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import PERCENT_AXIS, styled

__all__ = ["missed_chart"]


def missed_chart(
    shares: pd.DataFrame,
    colour: str,
    title: str,
    chosen: Collection[str] = (),
    mean: float | None = None,
    top: float | None = None,
) -> go.Figure:
    """A dot with its interval a bin, from top to bottom; each mark carries its bin's name.

    Parameters
    ----------
    shares : DataFrame
        Columns ``bin``, ``label``, ``n_missed``, ``n_aspects``, ``n_papers``, and ``share``, ``low``, ``high``
        (0 to 1, may be NaN). Empty bins are drawn without a mark.
    colour : str
        Of the marks.
    title : str
        Of the axis, with its unit.
    chosen : collection of str
        Bins that stand out; none chosen: all do.
    mean : float or None
        The share over all bins, as a dotted line.
    top : float or None
        Where the axis ends, as a share; without it at 100%. It begins at 0 in any case.
    """
    figure = go.Figure()
    known = shares[shares["share"].notna()]
    places = {name: place for place, name in enumerate(shares["bin"])}
    figure.add_scatter(
        x=100 * known["share"],
        y=[places[name] for name in known["bin"]],
        customdata=known[["bin", "n_missed", "n_aspects", "n_papers", "low", "high"]].assign(
            low=100 * known["low"], high=100 * known["high"], bin=known["bin"].astype(str)
        ),
        mode="markers",
        marker={
            "size": 10,
            "color": colour,
            "opacity": [1.0 if not chosen or name in chosen else 0.35 for name in known["bin"]],
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.6}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (100 * (known["high"] - known["share"])).fillna(0),
            "arrayminus": (100 * (known["share"] - known["low"])).fillna(0),
            "color": colour,
            "thickness": 1.5,
            "width": 3,
        },
        cliponaxis=False,
        hovertemplate="%{x:.1f}% missed (95% interval %{customdata[4]:.1f} to %{customdata[5]:.1f})<br>"
        "%{customdata[1]:,} of %{customdata[2]:,} aspects, %{customdata[3]:,} papers<extra></extra>",
        showlegend=False,
    )
    if mean is not None:
        figure.add_vline(x=100 * mean, line={"dash": "dot", "width": 1, "color": "gray"})
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(places.values()),
        ticktext=[
            f"{escaped(str(row['label']))}  {row['n_missed']:,}/{row['n_aspects']:,}"
            for row in shares.to_dict("records")
        ],
        range=[len(shares) - 0.4, -0.6],
        showgrid=False,
    )
    axis = PERCENT_AXIS if top is None else {"range": [0, 100 * top], "dtick": _tick(100 * top)}
    figure.update_xaxes(title={"text": title, "standoff": 6}, tickangle=0, **axis)
    return styled(figure, height=max(200, 56 + 20 * len(shares)))


def _tick(top: float) -> float:
    """A step that gives two to five labels."""
    return next((step for step in (2, 5, 10, 20, 25) if top / step <= 5), 50)
