"""How the recall of single instances moves from one wording to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.style import PERCENT_AXIS, styled

__all__ = ["LINES_AT_MOST", "slope_chart"]

LINES_AT_MOST = 400
_WORDS = {
    "up": "higher in the last than in the first",
    "level": "as in the first",
    "down": "lower in the last",
}


def slope_chart(frame: pd.DataFrame, steps: Sequence[str], colours: Mapping[str, str]) -> go.Figure:
    """A line a group of instances that move alike, wider for more; a click on a mark names them.

    Parameters
    ----------
    frame : DataFrame
        Columns ``instance`` and one of shares (0 to 1) a step.
    steps : sequence of str
        Columns from left to right, the original first.
    colours : mapping of str to str
        Of ``"up"``, ``"level"`` and ``"down"`` between the first and the last step.

    Returns
    -------
    Figure
        The marks' ``customdata`` is a list of two: how many instances move like this, and the first.
    """
    paths = frame.groupby(list(steps), sort=False)["instance"].agg(["first", "size"]).reset_index()
    paths["reach"] = paths[list(steps)].max(axis=1) - paths[list(steps)].min(axis=1)
    paths = paths.sort_values("reach", kind="stable", ascending=False).head(LINES_AT_MOST)
    figure = go.Figure()
    for way in ("level", "down", "up"):
        change = paths[steps[-1]] - paths[steps[0]]
        chosen = paths[{"up": change > 1e-9, "down": change < -1e-9, "level": change.abs() <= 1e-9}[way]]
        for width in sorted({min(count, 6) for count in chosen["size"]}):
            x: list[int | None] = []
            y: list[float | None] = []
            data: list[list[object]] = []
            for row in chosen[chosen["size"].clip(upper=6) == width].to_dict("records"):
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
                name=_WORDS[way],
                legendgroup=way,
                showlegend=not any(trace.legendgroup == way for trace in figure.data),
            )
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(steps))),
        ticktext=[escaped(step.removeprefix("paraphrase:")) for step in steps],
        range=[-0.25, len(steps) - 0.75],
        showgrid=False,
        title="Wording",
    )
    figure.update_yaxes(title="Aspect Recall of an instance, %", **(PERCENT_AXIS | {"range": [-3, 103]}))
    return styled(figure, height=420)
