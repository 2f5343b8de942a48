"""All pairs of systems as a map of squares: the difference is the colour, printed in the square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from components.charts.style import escaped_text, styled_figure
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE
from evidencebench_core.words import WARNING, clipped_text

SQUARE: Final = 48  # pixels
_LABEL: Final = 20  # characters of a name before the squares
_LETTER: Final = 7.2  # pixels, about
_BLACK, _WHITE = "#000000", "#ffffff"


def matrix_map(
    pairs: pd.DataFrame,
    names: Sequence[tuple[str, str]],
    *,
    chosen: tuple[str, str] | None = None,
    alpha: float = 0.05,
    dark: bool = False,
) -> go.Figure:
    """A row and a column a system; a square is row minus column in points, framed where it is significant.

    The figure has a width of its own, so that squares touch: one that is wider than the page is to be scrolled.

    Parameters
    ----------
    pairs : DataFrame
        ``a``, ``b``, ``label_a``, ``label_b``, ``difference`` (shares, -1 to 1; NaN where undefined), ``p_holm``;
        every pair both ways round.
    names : sequence of (str, str)
        Key and label of each system, from the top and from the left. A square's ``customdata`` begins with the
        keys of its row and column.
    chosen : (str, str), optional
        The row and column of the square that is marked with a ring.
    alpha : float
        Largest corrected p that counts as significant.
    """
    place = {key: number for number, (key, _) in enumerate(names)}
    shown = pairs[pairs["difference"].notna()]
    points = (100 * shown["difference"]).round(1) + 0.0
    reach = float(points.abs().max()) if len(shown) else 0.0
    colours = [shade(value / reach if reach else 0.0, dark) for value in points]
    ink = ink_on(DARK_PAGE if dark else LIGHT_PAGE)
    sure = [p <= alpha for p in shown["p_holm"]]
    figure = go.Figure()
    figure.add_scatter(
        x=[place[key] for key in shown["b"]],
        y=[place[key] for key in shown["a"]],
        mode="markers+text",
        marker={
            "symbol": "square",
            "size": SQUARE - 6,
            "color": colours,
            "opacity": 1,
            "line": {"width": [2 if one else 0 for one in sure], "color": ink},
        },
        text=[
            f"<b>{value:+.1f}</b>" if one else f"{value:+.1f}"
            for value, one in zip(points, sure, strict=True)
        ],
        textfont={"size": 11.5, "color": [ink_on(colour) for colour in colours]},
        customdata=[
            (row["a"], row["b"], escaped_text(row["label_a"]), escaped_text(row["label_b"]), row["p_holm"])
            for row in shown.to_dict("records")
        ],
        hovertemplate="%{customdata[2]}<br>minus %{customdata[3]}<br>%{text} points, p = %{customdata[4]:.4f} "
        "(Holm)<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        cliponaxis=False,
        showlegend=False,
    )
    if chosen is not None and set(chosen) <= set(place):
        for a, b in (chosen, chosen[::-1]):
            edges = {"x0": place[b] - 0.5, "x1": place[b] + 0.5, "y0": place[a] - 0.5, "y1": place[a] + 0.5}
            line = {"color": ink, "width": 1.5, "dash": "solid" if (a, b) == chosen else "dot"}
            figure.add_shape(type="rect", **edges, line=line, layer="below")
    n = len(names)
    numbers = list(range(n))
    labels = [
        f"{escaped_text(short_label(label))}  <b>{number}</b>"
        for number, (_, label) in enumerate(names, start=1)
    ]
    room = int(_LETTER * max((len(short_label(label)) for _, label in names), default=0)) + 30
    axis = {"range": [-0.5, n - 0.5], "tickvals": numbers, "showgrid": False, "fixedrange": True}
    figure.update_xaxes(**axis, ticktext=[f"<b>{number + 1}</b>" for number in numbers], side="top")
    figure.update_yaxes(**axis | {"range": [n - 0.5, -0.5]}, ticktext=labels)
    styled_figure(figure, height=SQUARE * n + 34)
    figure.update_xaxes(automargin=False).update_yaxes(automargin=False)
    return figure.update_layout(
        width=SQUARE * n + room + 6, margin={"l": room, "r": 6, "t": 28, "b": 6}, hoverdistance=SQUARE // 2
    )


def shade(share: float, dark: bool) -> str:
    """The colour of a difference, -1 to 1 of the largest: from worse through the page to better."""
    page = DARK_PAGE if dark else LIGHT_PAGE
    end = CHANGES["better" if share > 0 else "worse" if share < 0 else "same"].on(dark)
    share = 0.06 + 0.94 * min(abs(share), 1.0)  # so that a square at 0 can be seen as one
    mixed = (round(a + share * (b - a)) for a, b in zip(_rgb(page), _rgb(end), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(colour: str) -> str:
    """Black or white, whichever stands out more from a colour: at least 4.5:1."""
    weighted = zip((0.2126, 0.7152, 0.0722), _rgb(colour), strict=True)
    return _BLACK if sum(weight * (part / 255) ** 2.2 for weight, part in weighted) > 0.18 else _WHITE


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5))


def short_label(label: str) -> str:
    """A name that fits beside a chart; the sign that it has learnt from these instances stays."""
    name, sign, _ = label.partition(f" {WARNING}")
    return clipped_text(name, _LABEL) + sign
