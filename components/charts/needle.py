"""Recall against the place to which a part of the paper was moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from components.charts.intervals import escaped
from components.charts.positions import SYMBOLS, whiskers
from components.charts.style import styled

__all__ = ["needle_chart"]

_PLACES: Final = {
    "original": "as it stands",
    "start": "start",
    "middle": "middle",
    "end": "end",
    "removed": "removed",
}


def needle_chart(frame: pd.DataFrame, colours: Mapping[str, str]) -> go.Figure:
    """Recall by the place of the part, one line a run.

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
        ``customdata`` of a mark is ("needle", run id, place). Hollow marks at ``removed``: the same
        aspects with the paper as it stands.
    """
    figure = go.Figure()
    places = [place for place in _PLACES if place in set(frame["place"])]
    runs = list(dict.fromkeys(frame["run"]))
    for number, run in enumerate(runs):
        rows = frame[frame["run"] == run]
        shift = (number - (len(runs) - 1) / 2) * 0.12
        moved = rows[rows["place"] != "removed"]
        removed = rows[rows["place"] == "removed"]
        common: dict[str, Any] = {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 10, "color": colours[run]}
        for part, mode in ((moved, "lines+markers"), (removed, "markers")):
            figure.add_scatter(
                x=[places.index(place) + shift for place in part["place"]],
                y=100 * part["recall"],
                mode=mode,
                marker=common,
                line={"color": colours[run], "width": 1.5},
                error_y=whiskers(part, "recall", "low", "high", colours[run]),
                name=escaped(str(rows["label"].iloc[0])),
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
            marker={**common, "symbol": f"{common['symbol']}-open", "line": {"width": 2}},
            legendgroup=run,
            showlegend=False,
            hovertemplate="%{y:.1f}%: the same aspects, paper as it stands<extra>%{fullData.name}</extra>",
            name=escaped(str(rows["label"].iloc[0])),
        )
    figure.update_xaxes(
        title="Where the part was put",
        tickmode="array",
        tickvals=list(range(len(places))),
        ticktext=[_PLACES[place] for place in places],
        range=[-0.5, len(places) - 0.5],
        showgrid=False,
    )
    figure.update_yaxes(title="Recall of the counted aspects, %", range=[0, 102], tick0=0, dtick=25)
    return styled(figure, height=380)
