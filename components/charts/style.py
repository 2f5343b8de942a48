"""What all charts share: size, margins, legend on top, whiskers, honest axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

PERCENT_AXIS: Final[dict[str, Any]] = {"range": [0, 102], "ticksuffix": "", "tick0": 0, "dtick": 25}
SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up")
GREY: Final = "gray"


def styled(figure: go.Figure, height: int) -> go.Figure:
    """The figure in the house style; colours of text and page come from Streamlit's theme."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0},
        font={"family": "system-ui, 'DejaVu Sans', sans-serif", "size": 13},
        hovermode="closest",
        dragmode=False,
    )
    figure.update_xaxes(automargin=True, zeroline=False)
    figure.update_yaxes(automargin=True, zeroline=False)
    return figure


def escaped(text: object) -> str:
    """Text for plotly, which reads a few HTML tags in labels."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def whiskers(
    rows: pd.DataFrame,
    value: str,
    colour: str | None,
    bounds: tuple[str, str] = ("low", "high"),
    thickness: float = 1.5,
    width: float = 3,
) -> dict[str, Any]:
    """Error bars from a column of shares to the bounds of its interval, none where there is none."""
    low, high = bounds
    return {
        "type": "data",
        "symmetric": False,
        "array": (100 * (rows[high] - rows[value])).astype(float).clip(lower=0).fillna(0),
        "arrayminus": (100 * (rows[value] - rows[low])).astype(float).clip(lower=0).fillna(0),
        "color": colour,
        "thickness": thickness,
        "width": width,
    }


def name_rows(figure: go.Figure, names: Sequence[object], top: float = 0.5, bottom: float = 0.5) -> None:
    """Label the rows 0, 1, ... of a figure from top to bottom, with so much room above and below."""
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[escaped(name) for name in names],
        range=[len(names) - 1 + bottom, -top],
        showgrid=False,
    )


def name_steps(figure: go.Figure, names: Sequence[object], title: str) -> None:
    """Label the steps 0, 1, ... from left to right."""
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[escaped(name) for name in names],
        title=title,
    )
