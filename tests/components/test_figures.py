"""The figures: what they draw of a frame, and text that stays text."""

import math

import pandas as pd
import pytest

from components import figures
from tests.contrast import contrast

NAN = math.nan
HOSTILE = '<a href="http://x.org">x</a>'


def test_dots_are_in_percent_with_their_intervals_and_ids() -> None:
    frame = pd.DataFrame({"name": ["a", "b"], "value": [0.25, 0.5], "low": [0.2, NAN], "high": [0.4, NAN]})
    frame = frame.assign(n=[3, 4], id=["x", "y"])
    figure = figures.interval_dots(frame, "Recall")
    (trace,) = figure.data
    assert (list(trace.x), list(trace.y)) == ([25.0, 50.0], [0, 1])
    assert list(trace.error_x.array) == pytest.approx([15.0, 0.0])
    assert list(trace.error_x.arrayminus) == pytest.approx([5.0, 0.0])
    assert [data[0] for data in trace.customdata] == ["x", "y"]


def test_groups_of_one_name_stand_together_a_name_has_one_line_and_what_is_undefined_no_dot() -> None:
    frame = pd.DataFrame({"name": ["a", "a", "b"], "group": ["p", "q", "p"], "value": [0.1, -0.2, NAN]})
    frame = frame.assign(low=NAN, high=NAN, n=1)
    figure = figures.interval_dots(frame, "points", differences=True)
    assert [list(trace.x) for trace in figure.data] == [[10.0], [-20.0]]
    assert [round(trace.y[0]) for trace in figure.data] == [0, 0]
    a, b = figures.lines(frame.assign(x=[0, 1, 2]), "picks", "recall").data
    assert (list(a.x), list(a.y), list(b.x)) == ([0, 1], [10, -20], [2])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("strength", [-9.0, -1.0, -0.4, 0.0, 0.4, 1.0])
def test_the_number_in_a_square_can_be_read(strength: float, dark: bool) -> None:
    labels = {"p": "P"}
    frame = pd.DataFrame([{"row": "p", "column": "p", "value": strength, "text": "1", "hover": ""}])
    (trace,) = figures.squares(frame, labels, labels, strongest=1.0, dark=dark).data
    assert contrast(trace.marker.color[0], trace.textfont.color) >= 4.5


def test_a_name_is_no_link_wherever_a_figure_shows_it() -> None:
    frame = pd.DataFrame(
        {"name": [HOSTILE], "group": HOSTILE, "value": 1, "low": 1, "high": 1, "n": 1, "x": 0}
    )
    for figure in (figures.interval_dots(frame, HOSTILE), figures.lines(frame, HOSTILE, "y")):
        assert "<a" not in str(figure)
