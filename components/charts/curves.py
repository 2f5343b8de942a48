"""Recall as a curve: over the number of picks, over the number of spelling errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import PERCENT_AXIS, add_shares, escaped_text, name_steps, spread, styled_figure


def recall_curve(curves: pd.DataFrame, colours: Mapping[str, str], dashed: Collection[str] = ()) -> go.Figure:
    """Recall so far after each pick, one line a selection; references are dashed.

    ``curves``: ``name``, ``pick`` (1-based; 0 is before the first) and ``recall``.
    """
    figure = go.Figure()
    for name, curve in curves.groupby("name", sort=False):
        figure.add_scatter(
            x=curve["pick"],
            y=100 * curve["recall"],
            name=escaped_text(name),
            mode="lines+markers",
            line={"color": colours[str(name)], "dash": "dot" if name in dashed else "solid", "width": 2},
            marker={"size": 5},
            hovertemplate="%{y:.1f}% after %{x} sentences<extra>%{fullData.name}</extra>",
        )
    step = max(1, round(curves["pick"].max() / 8))
    figure.update_xaxes(title="Sentences picked", rangemode="tozero", dtick=step)
    figure.update_yaxes(title="Aspect Recall so far, %", **PERCENT_AXIS)
    return styled_figure(figure, height=260)


def spelling_chart(frame: pd.DataFrame) -> go.Figure:
    """Recall against the number of misspelt words, a line a system; the numbers stand at equal distances.

    ``frame``: ``group``, ``colour``, ``errors``, ``n``, ``n_capped``, ``mean_errors``, ``recall``, ``recall_low``,
    ``recall_high`` (may be missing).
    """
    figure = go.Figure()
    frame = frame.assign(low=frame["recall_low"], high=frame["recall_high"])
    counts, groups = sorted(set(frame["errors"])), list(dict.fromkeys(frame["group"]))
    top = float(frame[["recall", "high"]].fillna(0).to_numpy().max(initial=0.0))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["recall"].notna()]
        add_shares(
            figure,
            "y",
            rows,
            "recall",
            [counts.index(count) + spread(place, len(groups), 0.07) for count in rows["errors"]],
            rows["colour"].iloc[0] if len(rows) else None,
            {"size": 8},
            hovertemplate=f"{escaped_text(group)}: %{{y:.1f}}%<br>%{{customdata[3]}} errors asked for, "
            "%{customdata[2]:.1f} made on average<br>n = %{customdata[0]}, capped: %{customdata[1]}<extra></extra>",
            mode="lines+markers",
            name=escaped_text(group),
            customdata=rows[["n", "n_capped", "mean_errors", "errors"]],
        )
    name_steps(figure, counts, "Misspelt words asked for (not to scale)")
    figure.update_yaxes(title="Aspect Recall, %", range=[0, min(102.0, 108 * top) or 102.0])
    return styled_figure(figure, height=360)
