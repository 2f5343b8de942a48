"""The chart of missed shares."""

from __future__ import annotations

import math

import pandas as pd

from components.charts.missed import missed_chart

SHARES = pd.DataFrame(
    {
        "bin": ["abstract", "methods", "results"],
        "label": ["Abstract", "<b>Methods</b>", "Results"],
        "n_missed": [1, 0, 3],
        "n_aspects": [4, 0, 4],
        "n_papers": [2, 0, 1],
        "share": [0.25, math.nan, 0.75],
        "low": [0.1, math.nan, math.nan],
        "high": [0.5, math.nan, math.nan],
    }
)


def test_marks_carry_their_bin_and_empty_bins_have_none() -> None:
    figure = missed_chart(SHARES, "#d55e00", "Missed, %")
    (dots,) = figure.data
    assert list(dots.x) == [25.0, 75.0]
    assert list(dots.y) == [0, 2]
    assert [row[0] for row in dots.customdata] == ["abstract", "results"]
    assert list(dots.error_x.array) == [25.0, 0.0]
    assert list(dots.error_x.arrayminus) == [15.0, 0.0]


def test_labels_have_their_counts_and_no_markup() -> None:
    figure = missed_chart(SHARES, "#d55e00", "Missed, %")
    assert figure.layout.yaxis.ticktext == (
        "Abstract  1/4",
        "&lt;b&gt;Methods&lt;/b&gt;  0/0",
        "Results  3/4",
    )
    assert figure.layout.xaxis.title.text == "Missed, %"


def test_chosen_bins_stand_out_and_the_axis_begins_at_zero() -> None:
    figure = missed_chart(SHARES, "#d55e00", "Missed, %", ("results",), mean=0.5, top=0.8)
    assert list(figure.data[0].marker.opacity) == [0.35, 1.0]
    assert tuple(figure.layout.xaxis.range) == (0, 80)
    assert figure.layout.shapes[0].x0 == 50
