"""Dots with their 95% intervals, one row each: means, differences, missed shares."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import (
    DOTTED,
    GREY,
    PERCENT_AXIS,
    add_shares,
    escaped_text,
    folded_text,
    name_rows,
    spread,
    styled_figure,
)


def interval_chart(
    frame: pd.DataFrame,
    title: str,
    random: float | None = None,
    ceiling: tuple[float, float] | None = None,
) -> go.Figure:
    """Means of runs, with chance and ceiling as labelled lines where they are known; a ceiling's range is a band.

    ``frame``: ``name``, ``recall``, ``low``, ``high`` (may be missing), ``n``, ``colour``, from top to bottom.
    """
    figure = go.Figure()
    for place, row in enumerate(frame.to_dict("records")):
        hover = f"%{{x:.1f}}%<br>n = {row['n']}<extra></extra>"
        one = frame.iloc[[place]]
        add_shares(
            figure,
            "x",
            one,
            "recall",
            [place],
            row["colour"],
            {"size": 10},
            hovertemplate=hover,
            cliponaxis=False,
            showlegend=False,
        )
    bounds = ((random, random, "random"), (*(ceiling or (None, None)), "ceiling"))
    for low, high, label in bounds:
        if low is None or high is None:
            continue
        label_at = {"annotation": {"text": label, "font": {"size": 12}}, "annotation_position": "top"}
        if low == high:
            figure.add_vline(x=100 * low, line=DOTTED, **label_at)
        else:
            band = {"fillcolor": GREY, "opacity": 0.2, "line_width": 0, "layer": "below"}
            figure.add_vrect(x0=100 * low, x1=100 * high, **band, **label_at)
    names = [f"{name} (n\u00a0=\u00a0{n})" for name, n in zip(frame["name"], frame["n"], strict=True)]
    lines = name_rows(figure, names, top=0.7, width=28)
    figure.update_xaxes(title=folded_text(title, 24), **PERCENT_AXIS)
    return styled_figure(figure, height=90 + max(34, 17 * lines) * len(frame)).update_layout(margin={"t": 24})


def difference_chart(frame: pd.DataFrame, title: str) -> go.Figure:
    """Differences of means in points, around a line at no difference; groups of one name stand together.

    ``frame``: ``name``, ``group`` (what the colour stands for), ``difference``, ``low``, ``high`` (shares, -1 to
    1; may be missing), ``n``, ``colour``, from top to bottom.
    """
    figure = go.Figure()
    names, groups = list(dict.fromkeys(frame["name"])), list(dict.fromkeys(frame["group"]))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["difference"].notna()]
        add_shares(
            figure,
            "x",
            rows,
            "difference",
            [names.index(name) + spread(place, len(groups), 0.22) for name in rows["name"]],
            rows["colour"].iloc[0] if len(rows) else None,
            {"color": list(rows["colour"])},
            hovertemplate=f"{escaped_text(group)}: %{{x:+.1f}} points<br>n = %{{customdata}}<extra></extra>",
            name=escaped_text(group),
            customdata=rows["n"],
            showlegend=len(groups) > 1,
        )
    figure.add_vline(x=0, line={"width": 1, "color": GREY})
    name_rows(figure, names)
    figure.update_xaxes(title=folded_text(title, 24))
    return styled_figure(figure, height=difference_height(len(names) * max(1, len(groups))))


def difference_height(n_rows: int) -> int:
    """Pixels of a `difference_chart` with so many rows, of all groups together."""
    return 100 + 24 * n_rows


def missed_chart(
    shares: pd.DataFrame,
    colour: str,
    title: str,
    chosen: Collection[str] = (),
    mean: float | None = None,
    top: float | None = None,
) -> go.Figure:
    """The share of aspects that a run missed, bin by bin; ``customdata`` of a mark begins with its bin.

    ``shares``: ``bin``, ``label``, ``n_missed``, ``n_aspects``, ``n_papers``, and ``share``, ``low``, ``high``, NaN
    in a bin without aspects, which has no mark. The ``chosen`` bins stand out; ``mean``, the share over all, is a
    dotted line; the axis goes from 0 to ``top``, a share, or to 100%.
    """
    figure = go.Figure()
    known = shares[shares["share"].notna()]
    places = {name: place for place, name in enumerate(shares["bin"])}
    data = known[["bin", "n_missed", "n_aspects", "n_papers", "low", "high"]]
    add_shares(
        figure,
        "x",
        known,
        "share",
        [places[name] for name in known["bin"]],
        colour,
        {"size": 10, "opacity": [1.0 if not chosen or name in chosen else 0.35 for name in known["bin"]]},
        hovertemplate="%{x:.1f}% missed (95% interval %{customdata[4]:.1f} to %{customdata[5]:.1f})<br>"
        "%{customdata[1]:,} of %{customdata[2]:,} aspects, %{customdata[3]:,} papers<extra></extra>",
        customdata=data.assign(low=100 * data["low"], high=100 * data["high"], bin=data["bin"].astype(str)),
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.6}},
        cliponaxis=False,
        showlegend=False,
    )
    if mean is not None:
        figure.add_vline(x=100 * mean, line=DOTTED)
    counts = zip(shares["label"], shares["n_missed"], shares["n_aspects"], strict=True)
    names = [f"{label}  {n_missed:,}/{n_aspects:,}" for label, n_missed, n_aspects in counts]
    name_rows(figure, names, top=0.6, bottom=0.6)
    axis: dict[str, Any] = PERCENT_AXIS
    if top is not None:  # a step that gives two to five labels
        step = next((step for step in (2, 5, 10, 20, 25) if 100 * top / step <= 5), 50)
        axis = {"range": [0, 100 * top], "dtick": step}
    figure.update_xaxes(title={"text": escaped_text(title), "standoff": 6}, tickangle=0, **axis)
    return styled_figure(figure, height=max(200, 56 + 20 * len(shares)))
