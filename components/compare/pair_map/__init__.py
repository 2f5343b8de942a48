"""All pairs of systems as a map of squares: the difference is the colour, printed in the square.

A table of buttons, not a plotly figure: the page shows it first, and plotly takes longer to load than all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from components.app.session import component_event
from components.widgets.component import component
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE
from evidencebench_core.words import WARNING, clipped_text

__all__ = ["draw_map", "ink_on", "map_data", "map_width", "shade", "short_label"]

_SQUARE: Final = 48  # pixels, with the gap
_LABEL: Final = 20  # characters of a name before the squares
_LETTER: Final = 7.2  # pixels, about
_BLACK, _WHITE = "#000000", "#ffffff"
_component = component("pair_map", Path(__file__).parent, '<div class="pair-map"></div>')


def map_data(
    pairs: pd.DataFrame,
    names: Sequence[tuple[str, str]],
    *,
    chosen: tuple[str, str] | None = None,
    alpha: float = 0.05,
    dark: bool = False,
) -> dict[str, Any]:
    """A row and a column a system; a square is row minus column in points, framed where it is significant.

    Parameters
    ----------
    pairs : DataFrame
        ``a``, ``b``, ``label_a``, ``label_b``, ``difference`` (shares, -1 to 1; NaN where undefined), ``p_holm``;
        every pair both ways round.
    names : sequence of (str, str)
        Key and label of each system, from the top and from the left.
    chosen : (str, str), optional
        The row and column of the square that is marked.
    alpha : float
        Largest corrected p that counts as significant.

    Returns
    -------
    dict
        ``names`` (``label``, and ``short`` for beside the map) and ``squares``, each with its ``place`` (row and
        column, from 0), ``text``, ``title``, ``colour``, ``ink``, and whether it is ``sure``, ``chosen``, ``turned``.
    """
    place = {key: number for number, (key, _) in enumerate(names)}
    shown = pairs[pairs["difference"].notna()]
    reach = float((100 * shown["difference"]).round(1).abs().max()) if len(shown) else 0.0
    squares = []
    for row in shown.to_dict("records"):
        points, pair = round(100 * row["difference"], 1) + 0.0, (row["a"], row["b"])
        p = "" if pd.isna(row["p_holm"]) else f", p = {row['p_holm']:.4f} (Holm)"
        colour = shade(points / reach if reach else 0.0, dark)
        squares.append(
            {
                "place": [place[key] for key in pair],
                "text": f"{points:+.1f}",
                "title": f"{row['label_a']} minus {row['label_b']}: {points:+.1f} points{p}",
                "colour": colour,
                "ink": ink_on(colour),
                "sure": row["p_holm"] <= alpha,
                "chosen": pair == chosen,
                "turned": pair[::-1] == chosen,
            }
        )
    return {
        "names": [{"label": label, "short": short_label(label)} for _, label in names],
        "squares": squares,
    }


def map_width(names: Sequence[tuple[str, str]]) -> int:
    """Pixels of the map, about."""
    room = int(_LETTER * max((len(short_label(label)) for _, label in names), default=0)) + 30
    return _SQUARE * len(names) + room + 12


def draw_map(data: Mapping[str, Any], caption: str, on_pair: Callable[[int, int], None]) -> None:
    """Draw `map_data`; a click on a square passes on its row and column."""

    def on_change() -> None:
        clicked = component_event("pair-map")
        for square in data["squares"]:
            if square["place"] == clicked:
                on_pair(*square["place"])

    _component(key="pair-map", data={**data, "caption": caption}, on_event_change=on_change)


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
