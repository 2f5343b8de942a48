"""Answers: people against a judge, system by system, and nuggets against gold ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from components.charts.style import (
    DOTTED,
    GREY,
    PERCENT_AXIS,
    escaped_text,
    folded_text,
    name_rows,
    name_steps,
    styled_figure,
)

_NAMED: Final = 6


def people_judge_scatter(frame: pd.DataFrame, metric: str, colour: str) -> go.Figure:
    """Systems by their mean from people's labels and from a judge's, with the line where these are the same.

    Of many systems those farthest from it are named.

    ``frame``: ``name``, ``people``, ``judge`` (shares).
    """
    figure = go.Figure()
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, line=DOTTED)
    names = frame["name"].map(escaped_text)
    apart = (frame["people"] - frame["judge"]).abs().rank(ascending=False, method="first")
    figure.add_scatter(
        x=100 * frame["people"],
        y=100 * frame["judge"],
        text=names.where((apart <= _NAMED) | (len(frame) <= 2 * _NAMED), ""),
        textposition="top center",
        textfont={"size": 11},
        mode="markers+text",
        marker={"size": 10, "color": colour},
        cliponaxis=False,
        customdata=names,
        hovertemplate="%{customdata}<br>people %{x:.1f}%, judge %{y:.1f}%<extra></extra>",
        showlegend=False,
    )
    axis = PERCENT_AXIS | {"range": [-4, 108]}
    figure.update_xaxes(title=folded_text(f"{metric} by people, %", 30), **axis)
    figure.update_yaxes(title=folded_text(f"{metric} by the judge, %", 30), **axis)
    return styled_figure(figure, height=380)


def rank_slopes(frame: pd.DataFrame, colour: str) -> go.Figure:
    """Ranks of systems by people's labels and by a judge's, best on top, equal ones level; columns as above.

    Systems whose rank changes stand out.
    """
    figure = go.Figure()
    ranks = frame[["people", "judge"]].round(9).rank(ascending=False)
    level = [frame["name"].groupby(ranks[side]).agg(list).to_dict() for side in ("people", "judge")]
    for name, before, after in zip(frame["name"], ranks["people"], ranks["judge"], strict=True):
        shown = escaped_text(name)
        # those that are level have one label, that of the first
        labels = [
            _level_text(names[rank]) if names[rank][0] == name else ""
            for names, rank in zip(level, (before, after), strict=True)
        ]
        line = {"color": GREY if before == after else colour, "width": 1.5}
        figure.add_scatter(
            x=[0, 1],
            y=[before, after],
            mode="lines+markers+text",
            text=[f"{labels[0]} ", f" {labels[1]}"],
            textposition=["middle left", "middle right"],
            textfont={"size": 11},
            line=line,
            marker={"size": 7},
            cliponaxis=False,
            hovertemplate=f"{shown}: rank %{{y:.1f}}<extra></extra>",
            showlegend=False,
        )
    name_steps(figure, ("People", "Judge"), "")
    figure.update_xaxes(range=[-0.5, 1.5], showgrid=False)
    figure.update_yaxes(
        title="Rank", range=[len(frame) + 0.6, 0.4], dtick=1 if len(frame) < 16 else 5, showgrid=False
    )
    return styled_figure(figure, height=max(220, 100 + 16 * len(frame)))


def _level_text(names: Sequence[str]) -> str:
    return escaped_text(", ".join(names[:2]) + (f" +{len(names) - 2}" if len(names) > 2 else ""))


def match_squares(
    similarity: NDArray[np.float64],
    matched: Collection[tuple[int, int]],
    texts: tuple[Sequence[str], Sequence[str]],
    colour: str,
) -> go.Figure:
    """Gold nuggets down, those of an answer across, a square as large as its cosine or p; a match has an outline.

    ``similarity`` has the shape (answer's, gold); ``customdata`` of a square begins with its two places.
    """
    predicted, gold = texts
    cells = [(i, j) for j in range(len(gold)) for i in range(len(predicted))]
    cosines = [float(similarity[i, j]) for i, j in cells]
    figure = go.Figure()
    figure.add_scatter(
        x=[i for i, _ in cells],
        y=[j for _, j in cells],
        mode="markers",
        customdata=[[i, j, escaped_text(predicted[i]), escaped_text(gold[j])] for i, j in cells],
        marker={
            "symbol": "square",
            "size": [4 + 22 * max(0.0, one) for one in cosines],
            "color": colour,
            "opacity": [0.15 + 0.85 * max(0.0, one) for one in cosines],
            "line": {"width": [3 if cell in matched else 0 for cell in cells], "color": GREY},
        },
        text=[f"{one:.2f}" for one in cosines],
        hovertemplate="%{text}<br>%{customdata[2]}<br>%{customdata[3]}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.7}},
        showlegend=False,
    )
    figure.update_xaxes(
        tickvals=list(range(len(predicted))),
        ticktext=[
            f"{i + 1} {'matched' if any(k == i for k, _ in matched) else 'extra'}"
            for i in range(len(predicted))
        ],
        tickangle=-90,
        range=[-0.6, len(predicted) - 0.4],
        title="Nuggets of the answer",
        showgrid=False,
    )
    covered = {j for _, j in matched}
    names = [f"{one} ({'matched' if place in covered else 'missed'})" for place, one in enumerate(gold)]
    lines = name_rows(figure, names, top=0.6, bottom=0.6, width=30)
    return styled_figure(figure, height=130 + max(44, 17 * lines) * len(gold))


def threshold_lines(curve: pd.DataFrame, threshold: float, colours: Sequence[str]) -> go.Figure:
    """Mean recall, precision and cosine of matched nuggets over the threshold, with a line where it stands.

    ``curve``: ``threshold``, ``recall``, ``precision``, ``similarity`` (0 to 1; may be missing). One colour each.
    """
    figure = go.Figure()
    names = {"recall": "recall", "precision": "precision", "similarity": "cosine of matches"}
    for (column, name), colour, dash in zip(names.items(), colours, ("solid", "dash", "dot"), strict=True):
        figure.add_scatter(
            x=curve["threshold"],
            y=100 * curve[column].astype(float),
            name=name,
            mode="lines",
            line={"color": colour, "dash": dash, "width": 2},
            hovertemplate=f"{name} %{{y:.1f}}% at %{{x:.2f}}<extra></extra>",
        )
    figure.add_vline(x=threshold, line=DOTTED)
    figure.update_xaxes(title="Threshold", range=[0, 1])
    figure.update_yaxes(title="Mean over answers, %", **PERCENT_AXIS)
    return styled_figure(figure, height=300)
