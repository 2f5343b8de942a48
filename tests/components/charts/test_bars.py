"""Bars: histograms, shares by place, weights."""

from __future__ import annotations

import pandas as pd
import pytest

from components.charts.bars import histogram, share_chart, weights_chart


def test_few_values_have_a_bar_each() -> None:
    frame = pd.DataFrame({"value": [1, 3], "n": [5, 2]})
    bars = histogram(frame, "Optimal K", "instances", "#000000").data[0]
    assert list(bars.x) == [1, 2, 3]
    assert list(bars.y) == [5, 0, 2]
    assert list(bars.customdata) == ["1", "2", "3"]


def test_many_values_share_bars_and_none_is_lost() -> None:
    frame = pd.DataFrame({"value": list(range(10, 110)), "n": [1] * 100})
    bars = histogram(frame, "Sentences", "instances", "#000000").data[0]
    assert len(bars.x) <= 40
    assert sum(bars.y) == 100
    assert bars.customdata[0] == "10 to 12"


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


def test_without_rows_or_weight_there_is_still_an_axis() -> None:
    empty = weights_chart(pd.DataFrame(columns=["name", "moves", "note"]), "SD", "#0072b2")
    assert empty.layout.xaxis.range == (0, 1)
