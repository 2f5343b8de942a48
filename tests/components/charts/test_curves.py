"""Recall over picks and over spelling errors."""

from __future__ import annotations

import math

import pandas as pd

from components.charts.curves import recall_curve, spelling_chart


def test_the_curve_has_one_line_a_selection_in_percent() -> None:
    frame = pd.DataFrame(
        [("a", 0, 0.0), ("a", 1, 0.5), ("best", 0, 0.0), ("best", 1, 1.0)], columns=["name", "pick", "recall"]
    )
    figure = recall_curve(frame, {"a": "#111111", "best": "#222222"}, ("best",))
    assert [trace.name for trace in figure.data] == ["a", "best"]
    assert list(figure.data[0].y) == [0.0, 50.0]
    assert [trace.line.dash for trace in figure.data] == ["solid", "dot"]
    assert "%" in figure.layout.yaxis.title.text


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
