"""Along the paper: opportunity, picks and recall by position, the ends against the middle.

A mark's ``customdata`` is three texts: the panel, the run's id (``""`` for none) and the place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from components.charts.style import (
    DOTTED,
    GREY,
    SYMBOLS,
    add_shares,
    escaped_text,
    name_rows,
    spread,
    styled_figure,
    whiskers,
)

_PANELS: Final = (  # title, unit, share of the height
    ("Where aspects stand, % of all aspects", "%", 0.24),
    ("Where runs look, % of their picks", "%", 0.25),
    ("Aspects that stand there, number", "aspects", 0.17),
    ("Recall of those aspects, %", "Recall, %", 0.34),
)
_OPPORTUNITY: Final = (
    ("can", "can be found there: a sentence there covers it", 0.35),
    ("must", "must be found there: only sentences there cover it", 1.0),
)
_PLACES: Final = {
    "original": "as it stands",
    "start": "start",
    "middle": "middle",
    "end": "end",
    "removed": "removed",
}


def position_chart(
    opportunity: pd.DataFrame,
    picks: pd.DataFrame | None,
    recall: pd.DataFrame | None,
    colours: Mapping[str, str],
    gold: str,
) -> go.Figure:
    """Opportunity, picks, number of aspects and recall by bucket: one panel below the other on one axis.

    The frames are tables of `evidencebench_core.analyses.positions`, of ``recall`` the rows of one stand; ``picks``
    and ``recall`` are ``None`` without a run. ``colours`` are by run id. Panels of the marks: ``can``, ``must``,
    ``count``, ``picks``, ``recall``; the place is the bucket.
    """
    panels = _PANELS[:1] if recall is None or picks is None else _PANELS
    titles, units, heights = zip(*panels, strict=True)
    figure = make_subplots(
        len(panels),
        1,
        shared_xaxes=True,
        vertical_spacing=0.09,
        row_heights=list(heights),
        subplot_titles=titles,
    )
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    at = {"x": 50 * (opportunity["from"] + opportunity["to"]), "width": 86 / len(opportunity)}
    for name, words, opacity in _OPPORTUNITY:
        figure.add_bar(
            **at,
            y=100 * opportunity[name],
            name=words,
            marker={"color": _translucent(gold, opacity), "line": {"width": 0}},
            error_y=whiskers(opportunity, name, f"{name}_low", f"{name}_high") | {"color": GREY},
            customdata=[(name, "", bucket) for bucket in opportunity["bucket"]],
            text=[
                f"{n} of {total}"
                for n, total in zip(opportunity[f"n_{name}"], opportunity["n_aspects"], strict=True)
            ],
            textposition="none",
            hovertemplate="%{y:.1f}%: %{text} aspects<extra>" + name + "</extra>",
            row=1,
            col=1,
        )
    _reach(figure, 1, 100 * opportunity["can_high"])
    if picks is not None and recall is not None:
        covering = 100 * opportunity["share_covering"]
        figure.add_scatter(  # the yardstick of the picks
            x=[*(100 * opportunity["from"]), 100],
            y=[*covering, covering.iloc[-1]],
            mode="lines",
            line={"shape": "hv", "color": gold, "dash": "dot", "width": 2},
            name="sentences that cover an aspect",
            hovertemplate="%{y:.1f}% of the covering sentences<extra></extra>",
            row=2,
            col=1,
        )
        _runs(figure, 2, picks, "share", "picks", colours)
        _reach(figure, 2, 100 * picks["high"])
        _aspects(figure, recall[recall["run"] == recall["run"].iloc[0]], at)
        _runs(figure, 4, recall, "recall", "aspects", colours)
        figure.update_yaxes(range=[-5, 105], row=4, col=1)
    for row, unit in enumerate(units, start=1):
        figure.update_yaxes(title=unit, row=row, col=1)
    figure.update_xaxes(range=[-0.6, 100.6], dtick=20, showgrid=False)
    figure.update_xaxes(title="Position in the paper, % from its start", row=len(panels), col=1)
    styled_figure(figure, height=340 if len(panels) == 1 else 880)
    below = {"orientation": "h", "x": 0, "y": -0.08 if len(panels) == 4 else -0.28, "yanchor": "top"}
    return figure.update_layout(margin={"t": 30}, barmode="overlay", legend=below)


def _aspects(figure: go.Figure, frame: pd.DataFrame, at: Mapping[str, Any]) -> None:
    """The ground of every run's recall: the number of aspects, and what chance would find of them."""
    figure.add_bar(
        **at,
        y=frame["n_aspects"],
        marker={"color": GREY, "opacity": 0.45},
        text=frame["n_aspects"],
        textposition="outside",
        cliponaxis=False,
        customdata=[("count", "", bucket) for bucket in frame["bucket"]],
        hovertemplate="%{y} aspects<extra></extra>",
        showlegend=False,
        row=3,
        col=1,
    )
    _reach(figure, 3, frame["n_aspects"] * 1.15)
    if frame["chance"].notna().any():
        figure.add_scatter(
            x=at["x"],
            y=100 * frame["chance"],
            mode="lines+markers",
            marker={"symbol": "line-ew-open", "size": 10, "color": GREY},
            line=DOTTED | {"width": 1.5},
            name="as many random picks",
            hovertemplate="%{y:.1f}% by random picks<extra></extra>",
            row=4,
            col=1,
        )


def _runs(
    figure: go.Figure, row: int, frame: pd.DataFrame, value: str, counted: str, colours: Mapping[str, str]
) -> None:
    """One line a run, the runs side by side within a bucket so that no interval hides another."""
    panel = "picks" if counted == "picks" else "recall"
    runs = list(dict.fromkeys(frame["run"]))
    gap = min(18 * (frame["to"] - frame["from"]).iloc[0], 2.2)
    for place, run in enumerate(runs):
        rows = frame[frame["run"] == run]
        add_shares(
            figure,
            "y",
            rows,
            value,
            50 * (rows["from"] + rows["to"]) + spread(place, len(runs), gap),
            colours[run],
            {"symbol": SYMBOLS[place % len(SYMBOLS)]},
            hovertemplate="%{y:.1f}%, n = %{text}<extra>%{fullData.name}</extra>",
            mode="lines+markers",
            name=escaped_text(rows["label"].iloc[0]),
            legendgroup=run,
            showlegend=panel == "recall",
            customdata=[(panel, run, bucket) for bucket in rows["bucket"]],
            text=[f"{n} {counted}" for n in rows[f"n_{counted}"]],
            row=row,
            col=1,
        )


def _translucent(colour: str, opacity: float) -> str:
    """``#rrggbb`` as a colour that lets some of the page through, in the legend too."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _reach(figure: go.Figure, row: int, values: pd.Series[float]) -> None:
    """A panel's axis from a little below 0, so that marks at 0 are whole, to a little above the largest value."""
    top = float(values.max()) if values.notna().any() else 0.0
    figure.update_yaxes(range=[-0.05 * top, 1.2 * top] if top > 0 else [-0.05, 1.0], row=row, col=1)


def ends_histogram(frame: pd.DataFrame, below: float, above: float, colour: str) -> go.Figure:
    """How many instances have how much of their aspects covered by the ends, and the two thresholds.

    ``frame``: ``low``, ``high`` (edges) and ``n``, one row a bar. Panel of the bars: ``coverage``; the place is the
    number of the bar from 0.
    """
    figure = go.Figure()
    edges = list(zip(frame["low"], frame["high"], strict=True))
    figure.add_bar(
        x=50 * (frame["low"] + frame["high"]),
        y=frame["n"],
        width=90 * (frame["high"] - frame["low"]),
        marker={"color": colour, "opacity": 0.7},
        customdata=[("coverage", "", place) for place in range(len(frame))],
        text=[f"{100 * low:g} to {100 * high:g}%" for low, high in edges],
        textposition="none",
        hovertemplate="%{text}: %{y} instances<extra></extra>",
        showlegend=False,
    )
    for share in (below, above):
        figure.add_vline(x=100 * share, line=DOTTED | {"width": 1.5})
    figure.update_xaxes(title="Aspects covered by the ends, %", range=[0, 100], dtick=20, showgrid=False)
    figure.update_yaxes(title="Instances", rangemode="tozero")
    return styled_figure(figure, height=260)


def ends_chart(frame: pd.DataFrame, groups: Sequence[str]) -> go.Figure:
    """Recall by group, one row a system; ``groups`` are in the order of the legend.

    ``frame``: ``name``, ``run`` (id, ``""`` for a published figure), ``group``, ``recall``, ``low``, ``high``,
    ``chance`` (may be missing), ``n``, ``colour``. Panel of the marks: ``ends``; the place is the group.
    """
    figure = go.Figure()
    names = list(dict.fromkeys(frame["name"]))
    symbols = zip(groups, ("circle", "diamond-open", "square-open"), strict=True)
    for place, (group, symbol) in enumerate(symbols):
        rows = frame[frame["group"] == group]
        heights = [names.index(name) + spread(place, len(groups), 0.22) for name in rows["name"]]
        figure.add_scatter(
            x=100 * rows["chance"],
            y=heights,
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 12, "color": GREY},
            name="as many random picks",
            legendgroup="chance",
            showlegend=place == 0,
            hovertemplate="%{x:.1f}% by random picks<extra></extra>",
        )
        marker = {"symbol": symbol, "size": 11, "line": {"width": 2}}
        for number, row in enumerate(rows.to_dict("records")):
            add_shares(
                figure,
                "x",
                rows.iloc[[number]],
                "recall",
                [heights[number]],
                row["colour"],
                marker,
                hovertemplate=f"%{{x:.1f}}%, n = {row['n']:,} instances<extra>{group}</extra>",
                customdata=[("ends", row["run"], group)],
                showlegend=False,
            )
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker | {"color": GREY}, name=group)
    name_rows(figure, names, top=0.6, bottom=0.6)
    figure.update_xaxes(title="Aspect Recall, %", range=[-2, 102], tick0=0, dtick=25)
    return styled_figure(figure, height=110 + 62 * len(names))
