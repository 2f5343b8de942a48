"""Reliability of models: a map of models by tasks, share of yes, spelling curve, places, refraining."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from components.charts.style import (
    DOTTED,
    GREY,
    PERCENT_AXIS,
    SYMBOLS,
    add_shares,
    escaped_text,
    folded_text,
    name_rows,
    name_steps,
    spread,
    styled_figure,
)
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE

MANY_NULLS: Final = 0.05  # from which on a square of the map is hatched
_SIDE: Final = 46  # pixels of a square
_STRONGEST: Final = 0.3  # the difference that has the full colour
_HATCH: Final = "M-21,-1L-1,-21M-21,19L19,-21M1,21L21,1"
_INK: Final = ("#1d1f21", "#e8e6e1")  # on a light page, on a dark one


def model_map(frame: pd.DataFrame, models: Sequence[str], dark: bool) -> go.Figure:
    """A square for each task and model: coloured by the difference to the baseline, hatched where many are null.

    ``models`` stand in this order. ``frame``: ``task`` and ``model`` (as they are called), ``text`` (in the square),
    ``difference`` (a share, -1 to 1; may be missing), ``null_rate``, ``hover`` and ``key``, with which a mark's
    ``customdata`` begins.
    """
    tasks = list(dict.fromkeys(frame["task"]))
    x, y = [models.index(name) for name in frame["model"]], [tasks.index(name) for name in frame["task"]]
    figure = go.Figure()
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        marker={
            "symbol": "square",
            "size": _SIDE,
            "opacity": 1,
            "color": [difference_colour(value, dark) for value in frame["difference"]],
            "line": {"width": 1, "color": GREY},
        },
        text=[escaped_text(text) for text in frame["text"]],
        textfont={"color": _INK[dark], "size": 12},
        customdata=[
            (key, escaped_text(hover)) for key, hover in zip(frame["key"], frame["hover"], strict=True)
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
        selected={"marker": {"opacity": 1}, "textfont": {"color": _INK[dark]}},
        unselected={"marker": {"opacity": 1}, "textfont": {"color": _INK[dark]}},
        cliponaxis=False,
        showlegend=False,
    )
    for place, rate in enumerate(frame["null_rate"]):
        if rate > MANY_NULLS:
            figure.add_shape(
                type="path",
                path=_HATCH,
                xsizemode="pixel",
                ysizemode="pixel",
                xanchor=x[place],
                yanchor=y[place],
                line={"width": 1, "color": _INK[dark]},
                opacity=0.3,
            )
    name_rows(figure, tasks, width=24)
    names = [folded_text(name, 10) for name in models]
    figure.update_xaxes(
        tickvals=list(range(len(models))),
        ticktext=names,
        range=[-0.6, len(models) - 0.4],
        side="top",
        showgrid=False,
        tickangle=0,
    )
    return styled_figure(figure, height=70 + (_SIDE + 8) * len(tasks))


def difference_colour(difference: float, dark: bool) -> str:
    """The fill of a square: the page's for no difference or none known, blue for better, red for worse."""
    page = DARK_PAGE if dark else LIGHT_PAGE
    if math.isnan(difference):
        return page
    hue = CHANGES["better" if difference > 0 else "worse"].on(dark)
    weight = 0.62 * min(1.0, abs(difference) / _STRONGEST)
    mixed = (
        round((1 - weight) * int(page[i : i + 2], 16) + weight * int(hue[i : i + 2], 16)) for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def order_chart(frame: pd.DataFrame) -> go.Figure:
    """Share of yes in each order of the examples, as bars up or down from one half.

    ``frame``: ``group``, ``colour``, ``order`` (gold labels, first shown first), ``share``, ``low``, ``high`` (may be
    missing), ``n``. The orders that begin with N stand before those that begin with Y.
    """
    figure = go.Figure()
    orders, groups = sorted(set(frame["order"])), list(dict.fromkeys(frame["group"]))
    width = 0.8 / max(1, len(groups))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["share"].notna()]
        colour = rows["colour"].iloc[0] if len(rows) else None
        at = [orders.index(order) + spread(place, len(groups), width) for order in rows["order"]]
        figure.add_bar(
            x=at,
            y=100 * rows["share"] - 50,
            base=50,
            width=width * 0.9,
            name=escaped_text(group),
            legendgroup=group,
            marker={"color": colour, "line": {"width": 0}, "opacity": 0.55},
            hoverinfo="skip",
            showlegend=len(groups) > 1,
        )
        add_shares(
            figure,
            "y",
            rows,
            "share",
            at,
            colour,
            {"size": 8, "symbol": SYMBOLS[place % len(SYMBOLS)]},
            hovertemplate=f"{escaped_text(group)}, %{{customdata[0]}}: %{{y:.1f}}% yes<br>"
            "n = %{customdata[1]:,}<extra></extra>",
            customdata=rows[["order", "n"]],
            legendgroup=group,
            showlegend=False,
        )
    first_yes = next((place for place, order in enumerate(orders) if order.startswith("Y")), len(orders))
    if 0 < first_yes < len(orders):
        figure.add_vline(x=first_yes - 0.5, line={"width": 1, "color": GREY})
    for left, right, text in ((0, first_yes, "first: No"), (first_yes, len(orders), "first: Yes")):
        if left < right:
            label = {"text": text, "showarrow": False, "font": {"size": 12}, "yanchor": "bottom"}
            figure.add_annotation(x=(left + right - 1) / 2, y=101, **label)
    figure.add_hline(y=50, line=DOTTED)
    name_steps(figure, orders, "Labels of the examples, in order")
    figure.update_xaxes(range=[-0.6, len(orders) - 0.4], tickangle=-45 if len(orders) > 6 else 0)
    figure.update_yaxes(title="Answers that are yes, %", **(PERCENT_AXIS | {"range": [0, 110]}))
    return styled_figure(figure, height=380)


def errors_chart(frame: pd.DataFrame) -> go.Figure:
    """Weighted F1 over the number of misspelt words, clean at 0, and below on the same steps the share of nulls.

    ``frame``: ``group``, ``colour``, ``errors``, ``n``, ``f1``, ``low``, ``high`` (may be missing), ``f1_answered``
    (dashed: over the answers with a label), ``null_rate``.
    """
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.06)
    counts, groups = sorted(set(frame["errors"])), list(dict.fromkeys(frame["group"]))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["f1"].notna()].sort_values("errors")
        colour = rows["colour"].iloc[0] if len(rows) else None
        at = [counts.index(count) + spread(place, len(groups), 0.06) for count in rows["errors"]]
        shown = {"legendgroup": group, "customdata": rows[["errors", "n"]]}
        add_shares(
            figure,
            "y",
            rows,
            "f1",
            at,
            colour,
            {"size": 8, "symbol": SYMBOLS[place % len(SYMBOLS)]},
            mode="lines+markers",
            name=escaped_text(group),
            hovertemplate=f"{escaped_text(group)}, %{{customdata[0]}} errors: weighted F1 %{{y:.1f}}%<br>"
            "n = %{customdata[1]:,}<extra></extra>",
            **shown,
        )
        figure.add_scatter(
            x=at,
            y=100 * rows["f1_answered"],
            mode="lines",
            line={"color": colour, "width": 1.5, "dash": "dash"},
            name="of the answered",
            hovertemplate=f"{escaped_text(group)}, of the answered: %{{y:.1f}}%<extra></extra>",
            showlegend=place == 0,
            **shown,
        )
        figure.add_bar(
            x=at,
            y=100 * rows["null_rate"],
            width=0.5 / max(1, len(groups)) if len(groups) == 1 else 0.05,
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=f"{escaped_text(group)}: %{{y:.1f}}% without a label<extra></extra>",
            row=2,
            col=1,
            showlegend=False,
            **shown,
        )
    steps = {"tickvals": list(range(len(counts))), "ticktext": [str(count) for count in counts]}
    figure.update_xaxes(**steps, range=[-0.4, len(counts) - 0.6])
    figure.update_xaxes(title="Misspelt words (not to scale)", row=2, col=1)
    figure.update_yaxes(title="Weighted F1, %", **PERCENT_AXIS, row=1, col=1)
    top = max(5.0, 110 * float(frame["null_rate"].fillna(0).max() if len(frame) else 0))
    figure.update_yaxes(title="Null, %", range=[0, top], nticks=3, row=2, col=1)
    return styled_figure(figure, height=430)


def steps_chart(frame: pd.DataFrame, title: str, value: str = "Weighted F1, %") -> go.Figure:
    """A share with its interval at each of a few steps: where the own context stands, which distractors it has.

    ``frame``: ``group``, ``colour``, ``step``, ``share``, ``low``, ``high`` (may be missing), ``n``.
    """
    figure = go.Figure()
    steps, groups = list(dict.fromkeys(frame["step"])), list(dict.fromkeys(frame["group"]))
    for place, group in enumerate(groups):
        rows = frame[(frame["group"] == group) & frame["share"].notna()]
        add_shares(
            figure,
            "y",
            rows,
            "share",
            [steps.index(step) + spread(place, len(groups), 0.12) for step in rows["step"]],
            rows["colour"].iloc[0] if len(rows) else None,
            {"size": 10, "symbol": SYMBOLS[place % len(SYMBOLS)]},
            name=escaped_text(group),
            customdata=rows["n"],
            hovertemplate=f"{escaped_text(group)}: %{{y:.1f}}%<br>n = %{{customdata:,}}<extra></extra>",
            showlegend=len(groups) > 1,
        )
    name_steps(figure, steps, title)
    figure.update_xaxes(range=[-0.5, len(steps) - 0.5], tickangle=0)
    figure.update_yaxes(title=escaped_text(value), **PERCENT_AXIS)
    return styled_figure(figure, height=300)


def parts_chart(frame: pd.DataFrame, parts: Sequence[tuple[str, str, str, str]]) -> go.Figure:
    """Rows whose parts add up to all: refrained, in other words, yes, no, null.

    ``frame``: ``where``, ``n`` and a column of shares for each of ``parts``: column, name, colour, and the pattern
    that tells it from its neighbour ("" for plain).
    """
    figure = go.Figure()
    for column, name, colour, pattern in parts:
        shares = 100 * frame[column]
        figure.add_bar(
            y=list(range(len(frame))),
            x=shares,
            orientation="h",
            name=escaped_text(name),
            marker={
                "color": colour,
                "line": {"width": 1, "color": "rgba(128,128,128,0.6)"},
                "pattern": {"shape": pattern, "fgopacity": 0.6, "size": 6},
            },
            customdata=frame["n"],
            hovertemplate=f"{escaped_text(name)}: %{{x:.1f}}% of %{{customdata:,}}<extra></extra>",
        )
    names = [f"{where} (n\u00a0=\u00a0{n:,})" for where, n in zip(frame["where"], frame["n"], strict=True)]
    name_rows(figure, names, width=16)
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_xaxes(title="Share of the answers, %", **(PERCENT_AXIS | {"range": [0, 100]}))
    return styled_figure(figure, height=120 + 46 * len(frame))


def parts_text(frame: pd.DataFrame, names: Mapping[str, str]) -> str:
    """A `parts_chart` in words."""
    return "; ".join(
        f"{row['where']}: " + ", ".join(f"{name} {100 * row[column]:.1f}%" for column, name in names.items())
        for row in frame.to_dict("records")
    )
