"""What all charts share: size, margins, legend on top, honest axes."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

__all__ = ["PERCENT_AXIS", "styled"]

PERCENT_AXIS: Final[dict[str, Any]] = {"range": [0, 102], "ticksuffix": "", "tick0": 0, "dtick": 25}


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
