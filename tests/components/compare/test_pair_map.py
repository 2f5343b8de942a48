"""The map of all pairs: what a square says, where it stands, and which is framed."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.compare.pair_map import ink_on, map_data, shade
from evidencebench_core.palette import CHANGES, DARK_PAGE, LIGHT_PAGE
from evidencebench_core.words import WARNING
from tests.contrast import contrast

NAMES = [("r1", "<b>bm25</b>"), ("r2", f"evidence-ranker of-many-settings {WARNING} trained on 96 of these")]
PAIRS = pd.DataFrame(
    [("r1", "r2", -0.2, 0.01), ("r2", "r1", 0.2, 0.05), ("r1", "gone", math.nan, math.nan)],
    columns=["a", "b", "difference", "p_holm"],
).assign(label_a="<i>a", label_b="b")


def test_squares_say_the_difference_and_stand_at_their_pair() -> None:
    data = map_data(PAIRS, NAMES, chosen=("r2", "r1"))
    first, second = data["squares"]  # none where it is undefined
    assert (first["place"], second["place"]) == ([0, 1], [1, 0])
    assert (first["text"], second["text"]) == ("-20.0", "+20.0")
    assert first["title"] == "<i>a minus b: -20.0 points, p = 0.0100 (Holm)"  # written as text
    assert [(square["chosen"], square["turned"]) for square in (first, second)] == [
        (False, True),
        (True, False),
    ]
    assert data["names"][0] == {"label": "<b>bm25</b>", "short": "<b>bm25</b>"}
    assert WARNING in data["names"][1]["short"]  # a trained run stays marked where its name is cut
    assert "trained on" not in data["names"][1]["short"]
    squares = map_data(PAIRS, NAMES, chosen=("r1", "gone"))["squares"]
    assert not any(square["chosen"] or square["turned"] for square in squares)


def test_what_is_significant_is_framed() -> None:
    data = map_data(PAIRS.assign(p_holm=[0.051, 0.05, math.nan]), NAMES)
    assert [square["sure"] for square in data["squares"]] == [False, True]


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
    equal = map_data(PAIRS.head(2).assign(difference=0.0, p_holm=1.0), NAMES, dark=dark)
    assert {square["colour"] for square in equal["squares"]} == {shade(0.0, dark)}
