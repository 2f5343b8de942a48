"""Dots with their 95% intervals, one row each: means, differences, missed shares."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import GREY, PERCENT_AXIS, escaped, name_rows, styled, whiskers


def interval_chart(
    frame: pd.DataFrame, title: str, random: float | None = None, ceiling: float | None = None
) -> go.Figure:
    """Means of runs, with chance and ceiling as labelled lines where they are known.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``recall``, ``low``, ``high`` (may be missing), ``n``, ``colour``; drawn from top to
        bottom.
    """
    figure = go.Figure()
    for place in range(len(frame)):
        row = frame.iloc[[place]]
        colour = row["colour"].iloc[0]
        figure.add_scatter(
            x=100 * row["recall"],
            y=[place],
            mode="markers",
            marker={"size": 10, "color": colour},
            error_x=whiskers(row, "recall", colour, thickness=2, width=4),
            hovertemplate=f"%{{x:.1f}}%<br>n = {row['n'].iloc[0]}<extra></extra>",
            showlegend=False,
        )
    for share, label in ((random, "random"), (ceiling, "ceiling")):
        if share is not None:
            figure.add_vline(
                x=100 * share,
                line={"dash": "dot", "width": 1, "color": GREY},
                annotation={"text": label, "font": {"size": 12}},
                annotation_position="top",
            )
    name_rows(
        figure, [f"{name} (n = {n})" for name, n in zip(frame["name"], frame["n"], strict=True)], top=0.7
    )
    figure.update_xaxes(title=title, **PERCENT_AXIS)
    styled(figure, height=90 + 34 * len(frame))
    return figure.update_layout(margin={"t": 24})


def difference_chart(frame: pd.DataFrame, title: str) -> go.Figure:
    """Differences of means in points, around a line at no difference; groups of one name stand together.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``group`` (what the colour stands for), ``difference``, ``low``, ``high`` (shares,
        -1 to 1; may be missing), ``n``, ``colour``; drawn from top to bottom.
    """
    figure = go.Figure()
    names, groups = list(dict.fromkeys(frame["name"])), list(dict.fromkeys(frame["group"]))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["difference"].notna()]
        shift = (place - (len(groups) - 1) / 2) * 0.22
        colour = rows["colour"].iloc[0] if len(rows) else None
        figure.add_scatter(
            x=100 * rows["difference"],
            y=[names.index(name) + shift for name in rows["name"]],
            mode="markers",
            name=escaped(group),
            marker={"size": 9, "color": list(rows["colour"])},
            error_x=whiskers(rows, "difference", colour, thickness=2, width=4),
            customdata=rows["n"],
            hovertemplate=f"{escaped(group)}: %{{x:+.1f}} points<br>n = %{{customdata}}<extra></extra>",
            showlegend=len(groups) > 1,
        )
    figure.add_vline(x=0, line={"width": 1, "color": GREY})
    name_rows(figure, names)
    figure.update_xaxes(title=title)
    return styled(figure, height=100 + 24 * len(names) * max(1, len(groups)))


def missed_chart(
    shares: pd.DataFrame,
    colour: str,
    title: str,
    chosen: Collection[str] = (),
    mean: float | None = None,
    top: float | None = None,
) -> go.Figure:
    """The share of aspects that a run missed, bin by bin.

    Parameters
    ----------
    shares : DataFrame
        Columns ``bin``, ``label``, ``n_missed``, ``n_aspects``, ``n_papers``, and ``share``, ``low``, ``high``
        (may be NaN). Empty bins are drawn without a mark.
    chosen : collection of str
        Bins that stand out; none chosen: all do.
    mean : float or None
        The share over all bins, as a dotted line.
    top : float or None
        Where the axis ends, as a share; without it at 100%. It begins at 0 in any case.

    Returns
    -------
    Figure
        ``customdata`` of a mark begins with its bin.
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
        error_x=whiskers(known, "share", colour),
        cliponaxis=False,
        hovertemplate="%{x:.1f}% missed (95% interval %{customdata[4]:.1f} to %{customdata[5]:.1f})<br>"
        "%{customdata[1]:,} of %{customdata[2]:,} aspects, %{customdata[3]:,} papers<extra></extra>",
        showlegend=False,
    )
    if mean is not None:
        figure.add_vline(x=100 * mean, line={"dash": "dot", "width": 1, "color": GREY})
    name_rows(
        figure,
        [f"{row['label']}  {row['n_missed']:,}/{row['n_aspects']:,}" for row in shares.to_dict("records")],
        top=0.6,
        bottom=0.6,
    )
    axis: dict[str, Any] = PERCENT_AXIS
    if top is not None:  # a step that gives two to five labels
        step = next((step for step in (2, 5, 10, 20, 25) if 100 * top / step <= 5), 50)
        axis = {"range": [0, 100 * top], "dtick": step}
    figure.update_xaxes(title={"text": title, "standoff": 6}, tickangle=0, **axis)
    return styled(figure, height=max(200, 56 + 20 * len(shares)))
