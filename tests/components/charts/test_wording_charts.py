"""The charts of the page Wording: what is drawn, from frames written by hand."""

from __future__ import annotations

import math

import pandas as pd

from components.charts.differences import difference_chart
from components.charts.slope import LINES_AT_MOST, slope_chart
from components.charts.spelling import spelling_chart

COLOURS = {"up": "#111111", "level": "#222222", "down": "#333333"}


def test_instances_that_move_alike_share_a_line() -> None:
    frame = pd.DataFrame(
        {
            "instance": ["a", "b", "c", "<d>"],
            "original": [0.5, 0.5, 0.0, 1.0],
            "negation": [0.0, 0.0, 0.25, 1.0],
        }
    )
    figure = slope_chart(frame, ["original", "negation"], COLOURS)
    lines = {trace.line.color: trace for trace in figure.data}
    assert list(lines["#333333"].y) == [50, 0, None]
    assert list(lines["#333333"].customdata[0]) == [2, "a"]
    assert list(lines["#111111"].y) == [0, 25, None]
    assert lines["#333333"].line.width > lines["#111111"].line.width
    assert figure.layout.yaxis.title.text == "Aspect Recall of an instance, %"


def test_only_so_many_lines_and_the_longest_first() -> None:
    n = LINES_AT_MOST + 50
    frame = pd.DataFrame(
        {"instance": [str(i) for i in range(n)], "original": 0.0, "other": [i / n for i in range(n)]}
    )
    figure = slope_chart(frame, ["original", "other"], COLOURS)
    drawn = [y for trace in figure.data for y in trace.y if y is not None]
    assert len(drawn) == 2 * LINES_AT_MOST
    assert max(drawn) == 100 * (n - 1) / n


def test_differences_are_in_points_with_their_interval() -> None:
    frame = pd.DataFrame(
        [
            {"name": "x", "group": "bm25", "difference": 0.1, "low": -0.05, "high": 0.2, "n": 9, "colour": "#111111"},
            {"name": "x", "group": "dense", "difference": math.nan, "low": math.nan, "high": math.nan, "n": 0,
             "colour": "#222222"},
        ]
    )  # fmt: skip
    bm25, dense = difference_chart(frame, "points").data
    assert list(bm25.x) == [10]
    assert (round(bm25.error_x.array[0], 9), round(bm25.error_x.arrayminus[0], 9)) == (10, 15)
    assert len(dense.x) == 0


def test_errors_stand_at_equal_distances() -> None:
    rows = [
        {"group": "bm25", "colour": "#111111", "errors": errors, "n": 6, "n_capped": 0, "mean_errors": errors,
         "recall": 0.5, "recall_low": 0.4, "recall_high": 0.6}
        for errors in (0, 10, 50)
    ]  # fmt: skip
    figure = spelling_chart(pd.DataFrame(rows))
    (line,) = figure.data
    assert list(line.x) == [0, 1, 2]
    assert list(figure.layout.xaxis.ticktext) == ["0", "10", "50"]
    assert [round(e, 9) for e in line.error_y.array] == [10, 10, 10]
    empty = spelling_chart(
        pd.DataFrame(rows).assign(recall=math.nan, recall_low=math.nan, recall_high=math.nan)
    )
    assert len(empty.data[0].x) == 0
