"""Bars: histograms, shares by place, weights."""

from __future__ import annotations

import pandas as pd
import pytest

from components.charts.bars import histogram, share_chart, weights_chart


@pytest.mark.parametrize(
    ("values", "n_bars", "first"),
    [({1: 5, 3: 2}, 3, "1"), (dict.fromkeys(range(10, 110), 1), 34, "10 to 12")],
)
def test_bars_of_few_values_and_of_many(values: dict[int, int], n_bars: int, first: str) -> None:
    frame = pd.DataFrame(values.items(), columns=["value", "n"])
    bars = histogram(frame, "Optimal K", "instances", "#000000").data[0]
    assert (len(bars.x), bars.customdata[0], bars.y[0]) == (n_bars, first, 5 if n_bars == 3 else 3)
    assert sum(bars.y) == sum(values.values())  # none is lost


def test_shares_are_percent_and_text_is_no_markup() -> None:
    frame = pd.DataFrame({"where": ["<b>abstract"], "share": [0.25]})
    figure = share_chart(frame, [("share", "<i>there", "#000000")], "Share, %", "4 aspects")
    assert figure.data[0].x[0] == pytest.approx(25)
    assert figure.data[0].y[0] == "&lt;b&gt;abstract"
    assert figure.data[0].name == "&lt;i&gt;there"


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
    empty = weights_chart(frame.head(0), "SD", "#0072b2")
    assert empty.layout.xaxis.range == (0, 1)
