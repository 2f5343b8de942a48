"""Histograms and shares by place."""

from __future__ import annotations

import pandas as pd
import pytest

from components.charts.counts import histogram, share_chart


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
