"""Along the paper: opportunity, picks and recall by position, the ends against the middle, a part that moved.

A mark's ``customdata`` is three texts: the panel, the run's id (``""`` for none) and the place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from components.charts.style import GREY, SYMBOLS, escaped, name_rows, name_steps, styled, whiskers

_PANELS: Final = (
    ("Where aspects stand, % of all aspects", "%"),
    ("Where runs look, % of their picks", "%"),
    ("Aspects that stand there, number", "aspects"),
    ("Recall of those aspects, %", "Recall, %"),
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

    Parameters
    ----------
    opportunity, picks : DataFrame
        Tables of `evidencebench_core.analyses.positions`; ``picks`` and ``recall`` are ``None`` without a run.
    recall : DataFrame
        Its rows of one stand.
    colours : mapping of str to str
        By run id.
    gold : str
        Colour of the opportunity.

    Returns
    -------
    Figure
        Panels of the marks: ``can``, ``must``, ``count``, ``picks``, ``recall``; the place is the bucket.
    """
    rows = 1 if recall is None or picks is None else 4
    heights = [1.0] if rows == 1 else [0.24, 0.25, 0.17, 0.34]
    figure = make_subplots(rows, 1, shared_xaxes=True, vertical_spacing=0.09, row_heights=heights)
    middle = 50 * (opportunity["from"] + opportunity["to"])
    width = 100 / len(opportunity)
    _bars(figure, opportunity, middle, width, gold)
    if picks is not None and recall is not None:
        _covering(figure, opportunity, gold)
        _runs(figure, 2, picks, "share", "picks", colours, width)
        first = recall[recall["run"] == recall["run"].iloc[0]]
        _counts(figure, first, middle, width)
        _chance(figure, first, middle)
        figure.update_yaxes(range=_reach(100 * picks["high"]), row=2, col=1)
        figure.update_yaxes(range=_reach(first["n_aspects"] * 1.15), row=3, col=1)
        figure.update_yaxes(range=[-5, 105], row=4, col=1)
        _runs(figure, 4, recall, "recall", "recall", colours, width)
    figure.update_yaxes(range=_reach(100 * opportunity["can_high"]), row=1, col=1)
    for row, (words, unit) in enumerate(_PANELS[:rows], start=1):
        figure.update_yaxes(title=unit, row=row, col=1)
        axis = "" if row == 1 else row
        figure.add_annotation(
            text=words,
            xref=f"x{axis} domain",
            yref=f"y{axis} domain",
            x=0,
            y=1.0,
            yanchor="bottom",
            xanchor="left",
            showarrow=False,
            font={"size": 13},
        )
    figure.update_xaxes(range=[-0.6, 100.6], dtick=20, showgrid=False)
    figure.update_xaxes(title="Position in the paper, % from its start", row=rows, col=1)
    styled(figure, height=340 if rows == 1 else 880)
    below = {"orientation": "h", "x": 0, "y": -0.08 if rows == 4 else -0.28, "yanchor": "top"}
    return figure.update_layout(margin={"t": 30}, barmode="overlay", legend=below)


def _bars(
    figure: go.Figure, frame: pd.DataFrame, middle: pd.Series[float], width: float, colour: str
) -> None:
    for name, words, opacity in (
        ("can", "can be found there: a sentence there covers it", 0.35),
        ("must", "must be found there: only sentences there cover it", 1.0),
    ):
        figure.add_bar(
            x=middle,
            y=100 * frame[name],
            width=0.86 * width,
            name=words,
            marker={"color": _translucent(colour, opacity), "line": {"width": 0}},
            error_y=whiskers(frame, name, GREY, (f"{name}_low", f"{name}_high")),
            customdata=[(name, "", bucket) for bucket in frame["bucket"]],
            text=[f"{n} of {total}" for n, total in zip(frame[f"n_{name}"], frame["n_aspects"], strict=True)],
            textposition="none",
            hovertemplate="%{y:.1f}%: %{text} aspects<extra>" + name + "</extra>",
            row=1,
            col=1,
        )


def _covering(figure: go.Figure, frame: pd.DataFrame, colour: str) -> None:
    """The yardstick of the picks: where the sentences stand that cover anything."""
    figure.add_scatter(
        x=[*(100 * frame["from"]), 100],
        y=[*(100 * frame["share_covering"]), 100 * frame["share_covering"].iloc[-1]],
        mode="lines",
        line={"shape": "hv", "color": colour, "dash": "dot", "width": 2},
        name="sentences that cover an aspect",
        hovertemplate="%{y:.1f}% of the covering sentences<extra></extra>",
        row=2,
        col=1,
    )


def _counts(figure: go.Figure, frame: pd.DataFrame, middle: pd.Series[float], width: float) -> None:
    figure.add_bar(
        x=middle,
        y=frame["n_aspects"],
        width=0.86 * width,
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


def _chance(figure: go.Figure, frame: pd.DataFrame, middle: pd.Series[float]) -> None:
    if frame["chance"].notna().any():
        figure.add_scatter(
            x=middle,
            y=100 * frame["chance"],
            mode="lines+markers",
            marker={"symbol": "line-ew-open", "size": 10, "color": GREY},
            line={"color": GREY, "dash": "dot", "width": 1.5},
            name="as many random picks",
            hovertemplate="%{y:.1f}% by random picks<extra></extra>",
            row=4,
            col=1,
        )


def _runs(
    figure: go.Figure,
    row: int,
    frame: pd.DataFrame,
    value: str,
    panel: str,
    colours: Mapping[str, str],
    width: float,
) -> None:
    """One line a run, the runs side by side within a bucket so that no interval hides another."""
    runs = list(dict.fromkeys(frame["run"]))
    for place, run in enumerate(runs):
        of_run = frame[frame["run"] == run]
        shift = (place - (len(runs) - 1) / 2) * min(0.18 * width, 2.2)
        counts = of_run["n_picks"] if panel == "picks" else of_run["n_aspects"]
        figure.add_scatter(
            x=50 * (of_run["from"] + of_run["to"]) + shift,
            y=100 * of_run[value],
            mode="lines+markers",
            line={"color": colours[run], "width": 1.5},
            marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 9, "color": colours[run]},
            error_y=whiskers(of_run, value, colours[run]),
            name=escaped(of_run["label"].iloc[0]),
            legendgroup=run,
            showlegend=panel == "recall",
            customdata=[(panel, run, bucket) for bucket in of_run["bucket"]],
            text=[f"{n} {'picks' if panel == 'picks' else 'aspects'}" for n in counts],
            hovertemplate="%{y:.1f}%, n = %{text}<extra>%{fullData.name}</extra>",
            row=row,
            col=1,
        )


def _translucent(colour: str, opacity: float) -> str:
    """``#rrggbb`` as a colour that lets some of the page through."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _reach(values: pd.Series[float]) -> list[float]:
    """A range from a little below 0, so that marks at 0 are whole, to a little above the largest value."""
    top = float(values.max()) if values.notna().any() else 0.0
    return [-0.05 * top, 1.2 * top] if top > 0 else [-0.05, 1.0]


def ends_histogram(frame: pd.DataFrame, below: float, above: float, colour: str) -> go.Figure:
    """How many instances have how much of their aspects covered by the ends, and the two thresholds.

    Parameters
    ----------
    frame : DataFrame
        Columns ``low``, ``high`` (edges) and ``n``; one row a bar.

    Returns
    -------
    Figure
        Panel of the bars: ``coverage``; the place is the number of the bar from 0.
    """
    figure = go.Figure()
    figure.add_bar(
        x=50 * (frame["low"] + frame["high"]),
        y=frame["n"],
        width=90 * (frame["high"] - frame["low"]),
        marker={"color": colour, "opacity": 0.7},
        customdata=[("coverage", "", place) for place in range(len(frame))],
        text=[
            f"{100 * low:g} to {100 * high:g}%" for low, high in zip(frame["low"], frame["high"], strict=True)
        ],
        textposition="none",
        hovertemplate="%{text}: %{y} instances<extra></extra>",
        showlegend=False,
    )
    for share in (below, above):
        figure.add_vline(x=100 * share, line={"dash": "dot", "width": 1.5, "color": GREY})
    figure.update_xaxes(title="Aspects covered by the ends, %", range=[0, 100], dtick=20, showgrid=False)
    figure.update_yaxes(title="Instances", rangemode="tozero")
    return styled(figure, height=260)


def ends_chart(frame: pd.DataFrame, groups: Sequence[str]) -> go.Figure:
    """Recall by group, one row a system; ``groups`` are in the order of the legend.

    Parameters
    ----------
    frame : DataFrame
        Columns ``name``, ``run`` (id, ``""`` for a published figure), ``group``, ``recall``, ``low``,
        ``high``, ``chance`` (may be missing), ``n``, ``colour``.

    Returns
    -------
    Figure
        Panel of the marks: ``ends``; the place is the group.
    """
    figure = go.Figure()
    names = list(dict.fromkeys(frame["name"]))
    for place, (group, symbol) in enumerate(
        zip(groups, ("circle", "diamond-open", "square-open"), strict=True)
    ):
        rows = frame[frame["group"] == group]
        heights = [names.index(name) + 0.22 * (place - 1) for name in rows["name"]]
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
        for number, height in enumerate(heights):
            row = rows.iloc[[number]]
            colour = row["colour"].iloc[0]
            figure.add_scatter(
                x=100 * row["recall"],
                y=[height],
                mode="markers",
                marker=marker | {"color": colour},
                error_x=whiskers(row, "recall", colour),
                customdata=[("ends", row["run"].iloc[0], group)],
                hovertemplate=f"%{{x:.1f}}%, n = {row['n'].iloc[0]:,} instances<extra>{group}</extra>",
                showlegend=False,
            )
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker | {"color": GREY}, name=group)
    name_rows(figure, names, top=0.6, bottom=0.6)
    figure.update_xaxes(title="Aspect Recall, %", range=[-2, 102], tick0=0, dtick=25)
    return styled(figure, height=110 + 62 * len(names))


def needle_chart(frame: pd.DataFrame, colours: Mapping[str, str]) -> go.Figure:
    """Recall by the place to which a part was moved, one line a run.

    Parameters
    ----------
    frame : DataFrame
        Rows of one part and scope of `evidencebench_core.analyses.needle`, and one of place ``"original"``
        a run, before its others.
    colours : mapping of str to str
        By run id.

    Returns
    -------
    Figure
        Panel of the marks: ``needle``. Hollow marks at ``removed``: the same aspects with the paper as it
        stands.
    """
    figure = go.Figure()
    places = [place for place in _PLACES if place in set(frame["place"])]
    runs = list(dict.fromkeys(frame["run"]))
    for number, run in enumerate(runs):
        rows = frame[frame["run"] == run]
        name = escaped(rows["label"].iloc[0])
        shift = (number - (len(runs) - 1) / 2) * 0.12
        moved, removed = rows[rows["place"] != "removed"], rows[rows["place"] == "removed"]
        marker: dict[str, Any] = {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 10, "color": colours[run]}
        for part, mode in ((moved, "lines+markers"), (removed, "markers")):
            figure.add_scatter(
                x=[places.index(place) + shift for place in part["place"]],
                y=100 * part["recall"],
                mode=mode,
                marker=marker,
                line={"color": colours[run], "width": 1.5},
                error_y=whiskers(part, "recall", colours[run]),
                name=name,
                legendgroup=run,
                showlegend=part is moved,
                customdata=[("needle", run, place) for place in part["place"]],
                text=[
                    f"{a} aspects in {n} instances"
                    for a, n in zip(part["n_aspects"], part["n_instances"], strict=True)
                ],
                hovertemplate="%{y:.1f}%, n = %{text}<extra>%{fullData.name}</extra>",
            )
        figure.add_scatter(
            x=[places.index("removed") + shift for _ in range(len(removed))],
            y=100 * removed["original"],
            mode="markers",
            marker=marker | {"symbol": f"{marker['symbol']}-open", "line": {"width": 2}},
            legendgroup=run,
            showlegend=False,
            hovertemplate="%{y:.1f}%: the same aspects, paper as it stands<extra>%{fullData.name}</extra>",
            name=name,
        )
    name_steps(figure, [_PLACES[place] for place in places], "Where the part was put")
    figure.update_xaxes(range=[-0.5, len(places) - 0.5], showgrid=False)
    figure.update_yaxes(title="Recall of the counted aspects, %", range=[0, 102], tick0=0, dtick=25)
    return styled(figure, height=380)
