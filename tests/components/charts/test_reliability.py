"""Figures of the page Reliability: what is drawn where, hatched, framed and escaped."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.charts.reliability import (
    difference_colour,
    errors_chart,
    model_map,
    order_chart,
    parts_chart,
    parts_text,
    steps_chart,
)

NAN = math.nan
ONE = {"group": "<b>tiny</b>", "colour": "#0072b2", "low": 0.4, "high": 0.8, "n": 9}


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


def test_orders_that_begin_with_no_stand_first_and_bars_go_from_one_half() -> None:
    rows = [ONE | {"order": order, "share": share} for order, share in (("YNYN", 0.75), ("NYNY", 0.25))]
    bars, dots = order_chart(pd.DataFrame(rows)).data
    assert (list(bars.x), list(bars.y), bars.base) == ([1, 0], [25, -25], 50)
    assert list(dots.y) == [75, 25]
    assert bars.name == "&lt;b&gt;tiny&lt;/b&gt;"
    unknown = order_chart(pd.DataFrame([ONE | {"order": "NY", "share": NAN}]))
    assert [len(trace.x) for trace in unknown.data] == [0, 0]


def test_errors_have_the_clean_point_first_and_nulls_below() -> None:
    shown = {"f1": 0.6, "f1_answered": 0.8, "null_rate": 0.25}
    rows = [ONE | shown | {"errors": 10}, ONE | shown | {"errors": 0}, ONE | shown | {"errors": 1, "f1": NAN}]
    f1, answered, nulls = errors_chart(pd.DataFrame(rows)).data
    assert (list(f1.x), list(f1.y)) == ([0, 2], [60, 60])
    assert (list(answered.y), answered.line.dash, list(nulls.y)) == ([80, 80], "dash", [25, 25])


def test_steps_and_parts_are_percent() -> None:
    (dots,) = steps_chart(pd.DataFrame([ONE | {"step": "first", "share": 0.6}]), "Place").data
    assert (list(dots.x), list(dots.y), list(dots.error_y.array)) == ([0], [60], [pytest.approx(20)])
    frame = pd.DataFrame([{"where": "wrong", "n": 4, "yes": 0.25, "no": 0.75}])
    figure = parts_chart(frame, [("yes", "says <yes>", "#111111", ""), ("no", "no", "#222222", "x")])
    assert [(part.name, list(part.x)) for part in figure.data] == [("says &lt;yes&gt;", [25]), ("no", [75])]
    assert parts_text(frame, {"yes": "yes", "no": "no"}) == "wrong: yes 25.0%, no 75.0%"
