"""The map of all pairs: what a square says, which is framed, and what a click on it means."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.charts.matrix import ink_on, matrix_map, shade
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE
from evidencebench_core.words import WARNING
from tests.contrast import contrast

NAMES = [("r1", "<b>bm25</b>"), ("r2", f"evidence-ranker of-many-settings {WARNING} trained on 96 of these")]
PAIRS = pd.DataFrame(
    [("r1", "r2", -0.2, 0.01), ("r2", "r1", 0.2, 0.05), ("r1", "gone", math.nan, math.nan)],
    columns=["a", "b", "difference", "p_holm"],
).assign(label_a="<i>a", label_b="b")


def test_squares_say_the_difference_and_carry_their_pair() -> None:
    figure = matrix_map(PAIRS, NAMES, chosen=("r2", "r1"))
    (squares,) = figure.data
    assert (list(squares.x), list(squares.y)) == ([1, 0], [0, 1])  # none where it is undefined
    assert list(squares.text) == ["<b>-20.0</b>", "<b>+20.0</b>"]
    assert [list(data[:2]) for data in squares.customdata] == [["r1", "r2"], ["r2", "r1"]]
    assert squares.customdata[0][2] == "&lt;i&gt;a"
    assert figure.layout.yaxis.range == (1.5, -0.5)  # the first on top
    first, second = figure.layout.yaxis.ticktext
    assert first == "&lt;b&gt;bm25&lt;/b&gt;  <b>1</b>"
    assert WARNING in second  # a trained run stays marked where its name is cut
    assert "trained on" not in second
    solid, dotted = figure.layout.shapes
    assert (solid.x0, solid.y0, solid.line.dash, dotted.line.dash) == (-0.5, 0.5, "solid", "dot")
    assert not matrix_map(PAIRS, NAMES, chosen=("r1", "gone")).layout.shapes


def test_what_is_significant_has_a_frame_and_is_bold() -> None:
    figure = matrix_map(PAIRS.assign(p_holm=[0.051, 0.05, math.nan]), NAMES)
    (squares,) = figure.data
    assert list(squares.marker.line.width) == [0, 2]
    assert list(squares.text) == ["-20.0", "<b>+20.0</b>"]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_go_from_worse_through_the_page_to_better(dark: bool) -> None:
    assert shade(1.0, dark) == CHANGES["better"].on(dark)
    assert shade(-1.0, dark) == CHANGES["worse"].on(dark)
    page = DARK_PAGE if dark else LIGHT_PAGE
    assert contrast(shade(0.0, dark), page) < 1.2
    away = [contrast(shade(share / 10, dark), page) for share in range(1, 11)]
    assert away == sorted(away)
    for share in range(-20, 21):
        colour = shade(share / 20, dark)
        assert contrast(ink_on(colour), colour) >= 4.5
    equal = matrix_map(PAIRS.head(2).assign(difference=0.0, p_holm=1.0), NAMES, dark=dark)
    assert set(equal.data[0].marker.color) == {shade(0.0, dark)}
