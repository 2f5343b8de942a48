"""The chart of what weighs how much."""

from __future__ import annotations

import pandas as pd

from components.charts.weights import weights_chart


def test_bars_start_at_zero_and_stand_in_the_order_given() -> None:
    frame = pd.DataFrame(
        [("<b>Place</b>", 0.8, "place"), ("Words", 0.2, "words")], columns=["name", "moves", "note"]
    )
    figure = weights_chart(frame, "SD", "#0072b2")
    (bars,) = figure.data
    assert list(bars.x) == [0.8, 0.2]
    assert list(bars.text) == ["0.80", "0.20"]
    assert figure.layout.xaxis.range[0] == 0
    assert "<b>" not in figure.layout.yaxis.ticktext[0]
    assert figure.layout.yaxis.range == (1.5, -0.5)  # the first on top


def test_without_rows_or_weight_there_is_still_an_axis() -> None:
    empty = weights_chart(pd.DataFrame(columns=["name", "moves", "note"]), "SD", "#0072b2")
    assert empty.layout.xaxis.range == (0, 1)
