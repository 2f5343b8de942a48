"""Evidence, picks and recall along the paper, one panel below the other on one axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from components.charts.intervals import escaped
from components.charts.style import styled

__all__ = ["GREY", "SYMBOLS", "position_chart", "whiskers"]

SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up")
GREY: Final = "gray"

_PANELS: Final = (
    "Where aspects stand, % of all aspects",
    "Where runs look, % of their picks",
    "Aspects that stand there, number",
    "Recall of those aspects, %",
)


def position_chart(
    opportunity: pd.DataFrame,
    picks: pd.DataFrame | None,
    recall: pd.DataFrame | None,
    colours: Mapping[str, str],
    gold: str,
) -> go.Figure:
    """Opportunity, picks, number of aspects and recall by bucket.

    Parameters
    ----------
    opportunity, picks : DataFrame
        Tables of `evidencebench_core.analyses.positions`; ``picks`` and ``recall`` are ``None`` without
        a run.
    recall : DataFrame
        Its rows of one stand.
    colours : mapping of str to str
        By run id.
    gold : str
        Colour of the opportunity.

    Returns
    -------
    Figure
        ``customdata`` of a mark is (panel, run id, bucket): panels ``can``, ``must``, ``picks``,
        ``recall``.
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
    for row in range(1, rows + 1):
        figure.update_yaxes(title=("%", "%", "aspects", "Recall, %")[row - 1], row=row, col=1)
        figure.add_annotation(
            text=_PANELS[row - 1],
            xref="x domain" if row == 1 else f"x{row} domain",
            yref="y domain" if row == 1 else f"y{row} domain",
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
            marker={"color": _faded(colour, opacity), "line": {"width": 0}},
            error_y=whiskers(frame, name, f"{name}_low", f"{name}_high", GREY),
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
            error_y=whiskers(of_run, value, "low", "high", colours[run]),
            name=escaped(str(of_run["label"].iloc[0])),
            legendgroup=run,
            showlegend=panel == "recall",
            customdata=[(panel, run, bucket) for bucket in of_run["bucket"]],
            text=[f"{n} {'picks' if panel == 'picks' else 'aspects'}" for n in counts],
            hovertemplate="%{y:.1f}%, n = %{text}<extra>%{fullData.name}</extra>",
            row=row,
            col=1,
        )


def _faded(colour: str, opacity: float) -> str:
    """``#rrggbb`` as a colour that lets some of the page through."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _reach(values: pd.Series[float]) -> list[float]:
    """A range from a little below 0, so that marks at 0 are whole, to a little above the largest value."""
    top = float(values.max()) if values.notna().any() else 0.0
    return [-0.05 * top, 1.2 * top] if top > 0 else [-0.05, 1.0]


def whiskers(frame: pd.DataFrame, value: str, low: str, high: str, colour: str) -> dict[str, Any]:
    """Error bars from the value to the ends of its interval, none where there is none."""
    return {
        "type": "data",
        "symmetric": False,
        "array": (100 * (frame[high] - frame[value])).clip(lower=0).fillna(0),
        "arrayminus": (100 * (frame[value] - frame[low])).clip(lower=0).fillna(0),
        "color": colour,
        "thickness": 1.5,
        "width": 3,
    }
