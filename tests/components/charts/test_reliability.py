"""Figures of the page Reliability: what is drawn where, hatched, framed and escaped."""

from __future__ import annotations

import math

import pandas as pd

from components.charts.reliability import difference_colour, model_map

NAN = math.nan


def test_a_square_a_task_and_model_hatched_where_many_answers_have_no_label() -> None:
    columns = ["task", "model", "text", "difference", "null_rate", "hover", "key"]
    rows = [
        ("Baseline", "a", "80.0", NAN, 0.05, "n = 9", "1"),
        ("Paraphrase", "a", "70.0", -0.1, 0.06, "<i>n</i>", "2"),
        ("Paraphrase", "<b>", "90.0", 0.1, 0.0, "", "3"),
    ]
    figure = model_map(pd.DataFrame(rows, columns=columns), ["a", "<b>"], dark=False)
    squares = figure.data[0]
    assert (list(squares.x), list(squares.y)) == ([0, 0, 1], [0, 1, 1])
    assert list(squares.customdata[1]) == ["2", "&lt;i&gt;n&lt;/i&gt;"]
    assert [(shape.xanchor, shape.yanchor) for shape in figure.layout.shapes] == [(0, 1)]
    assert figure.layout.xaxis.ticktext == ("a", "&lt;b&gt;")
    assert len(set(squares.marker.color)) == 3


def test_a_larger_difference_is_a_stronger_colour_up_to_a_bound() -> None:
    assert difference_colour(NAN, dark=False) == difference_colour(0.0, dark=False) == "#ffffff"
    red = [int(difference_colour(-value, dark=False)[5:], 16) for value in (0.01, 0.1, 0.3, 0.9)]
    assert red[0] > red[1] > red[2] == red[3]  # of blue there is less and less
