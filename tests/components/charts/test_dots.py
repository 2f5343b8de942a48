"""Dots with intervals: means, differences, missed shares."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.charts.dots import difference_chart, interval_chart, missed_chart


def test_intervals_reach_from_low_to_high_and_name_n() -> None:
    frame = pd.DataFrame(
        [
            {"name": "<b>bm25</b>", "recall": 0.4, "low": 0.3, "high": 0.55, "n": 96, "colour": "#000000"},
            {"name": "one", "recall": 1.0, "low": None, "high": None, "n": 1, "colour": "#000000"},
        ]
    )
    figure = interval_chart(frame, "Aspect Recall on ER@10, %", random=0.1, ceiling=0.99)
    bars = figure.data[0].error_x
    assert bars.array[0] == pytest.approx(15.0)
    assert bars.arrayminus[0] == pytest.approx(10.0)
    assert figure.data[1].error_x.array[0] == 0
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;bm25&lt;/b&gt; (n = 96)"
    assert figure.layout.xaxis.range[0] == 0
    assert [shape.x0 for shape in figure.layout.shapes] == pytest.approx([10.0, 99.0])


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


def test_marks_carry_their_bin_and_labels_their_counts() -> None:
    figure = missed_chart(SHARES, "#d55e00", "Missed, %")
    (dots,) = figure.data
    assert (list(dots.x), list(dots.y)) == ([25.0, 75.0], [0, 2])  # none in the empty bin
    assert [row[0] for row in dots.customdata] == ["abstract", "results"]
    assert list(dots.error_x.array) == [25.0, 0.0]
    assert list(dots.error_x.arrayminus) == [15.0, 0.0]
    labels = ("Abstract  1/4", "&lt;b&gt;Methods&lt;/b&gt;  0/0", "Results  3/4")
    assert figure.layout.yaxis.ticktext == labels
    assert figure.layout.xaxis.title.text == "Missed, %"


def test_chosen_bins_stand_out_and_the_axis_begins_at_zero() -> None:
    figure = missed_chart(SHARES, "#d55e00", "Missed, %", ("results",), mean=0.5, top=0.8)
    assert list(figure.data[0].marker.opacity) == [0.35, 1.0]
    assert tuple(figure.layout.xaxis.range) == (0, 80)
    assert figure.layout.shapes[0].x0 == 50


def test_differences_are_in_points_with_their_interval() -> None:
    known = {"name": "x", "group": "bm25", "difference": 0.1, "low": -0.05, "high": 0.2, "n": 9}
    unknown = {"group": "dense", "n": 0, **dict.fromkeys(("difference", "low", "high"), math.nan)}
    frame = pd.DataFrame([known, known | unknown]).assign(colour="#111111")
    bm25, dense = difference_chart(frame, "points").data
    assert list(bm25.x) == [10]
    assert (round(bm25.error_x.array[0], 9), round(bm25.error_x.arrayminus[0], 9)) == (10, 15)
    assert len(dense.x) == 0
