"""Instance by instance: two systems against each other, and one system from wording to wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import DOTTED, PERCENT_AXIS, escaped_text, name_steps, styled_figure

LINES_AT_MOST: Final = 400
_WAYS: Final = {
    "level": "as in the first",
    "down": "lower in the last",
    "up": "higher in the last than in the first",
}


def recall_scatter(frame: pd.DataFrame, name_a: str, name_b: str, colour: str) -> go.Figure:
    """Per-instance recall of system a against system b, with the diagonal where they are level.

    ``frame``: ``id`` (names the instances), ``a``, ``b`` and ``n``: how many instances share the point.
    """
    figure = go.Figure()
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, line=DOTTED)
    figure.add_scatter(
        x=100 * frame["b"],
        y=100 * frame["a"],
        customdata=frame[["id", "n"]],
        mode="markers",
        marker={"size": 6 + 4 * frame["n"] ** 0.5, "color": colour, "opacity": 0.65},
        cliponaxis=False,
        unselected={"marker": {"opacity": 0.65}},
        selected={"marker": {"opacity": 1}},
        hovertemplate="%{customdata[0]}<br>"
        + f"{escaped_text(name_a)}: %{{y:.1f}}%<br>{escaped_text(name_b)}: %{{x:.1f}}%<extra></extra>",
        showlegend=False,
    )
    for x, y, name in ((3, 97, name_a), (97, 3, name_b)):
        figure.add_annotation(
            x=x,
            y=y,
            text=f"{escaped_text(name)} ahead",
            showarrow=False,
            xanchor="left" if x < 50 else "right",
        )
    axis = PERCENT_AXIS | {"range": [-2, 102]}
    figure.update_xaxes(title=f"Aspect Recall of {escaped_text(name_b)}, %", **axis)
    figure.update_yaxes(title=f"Aspect Recall of {escaped_text(name_a)}, %", **axis)
    return styled_figure(figure, height=440)


def slope_chart(frame: pd.DataFrame, steps: Sequence[str], colours: Mapping[str, str]) -> go.Figure:
    """A line a group of instances that move alike, wider for more; a click on a mark names them.

    ``frame``: ``instance`` and one column of shares a step. ``colours`` are of ``"up"``, ``"level"`` and ``"down"``
    from the first step to the last. The marks' ``customdata``: how many instances move like this, and the first.
    """
    paths = frame.groupby(list(steps), sort=False)["instance"].agg(["first", "size"]).reset_index()
    paths["reach"] = paths[list(steps)].max(axis=1) - paths[list(steps)].min(axis=1)
    paths = paths.sort_values("reach", kind="stable", ascending=False).head(LINES_AT_MOST)
    change = paths[steps[-1]] - paths[steps[0]]
    paths["way"] = ["up" if c > 1e-9 else "down" if c < -1e-9 else "level" for c in change]
    figure = go.Figure()
    for way, words in _WAYS.items():
        chosen = paths[paths["way"] == way]
        for place, (width, rows) in enumerate(chosen.groupby(chosen["size"].clip(upper=6))):
            x: list[int | None] = []
            y: list[float | None] = []
            data: list[list[object]] = []
            for row in rows.to_dict("records"):
                x += [*range(len(steps)), None]
                y += [*(100 * row[step] for step in steps), None]
                data += [[row["size"], row["first"]]] * (len(steps) + 1)
            figure.add_scatter(
                x=x,
                y=y,
                customdata=data,
                mode="lines+markers",
                line={"width": 0.8 + 0.7 * width, "color": colours[way]},
                marker={"size": 6 + width},
                opacity=0.45 if way == "level" else 0.75,
                hovertemplate="%{y:.1f}%<br>%{customdata[1]}<br>on this line: %{customdata[0]}<extra></extra>",
                name=words,
                legendgroup=way,
                showlegend=place == 0,
            )
    name_steps(figure, [step.removeprefix("paraphrase:") for step in steps], "Wording")
    figure.update_xaxes(range=[-0.25, len(steps) - 0.75], showgrid=False)
    figure.update_yaxes(title="Aspect Recall of an instance, %", **(PERCENT_AXIS | {"range": [-3, 103]}))
    return styled_figure(figure, height=420)
