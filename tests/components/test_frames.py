"""Frames and figures that single pages make of what the core gives them."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.runs.pair import both_ways, points


@pytest.mark.parametrize(
    ("difference", "low", "high", "text"),
    [
        (0.138, 0.074, 0.204, "+13.8 (+7.4 to +20.4)"),
        (-0.0004, -0.1, -0.0002, "+0.0 (-10.0 to +0.0)"),  # no minus before a 0
        (0.05, math.nan, math.nan, "+5.0"),
        (math.nan, math.nan, math.nan, "–"),
    ],
)
def test_a_difference_with_its_interval(difference: float, low: float, high: float, text: str) -> None:
    assert points({"difference": difference, "low": low, "high": high}) == text


def test_a_pair_turned_round_changes_sides_and_sign() -> None:
    pair = {"a": "x", "b": "y", "label_a": "X", "label_b": "Y", "n": 9, "p_holm": 0.2}
    pair |= {"difference": 0.1, "low": -0.05, "high": 0.3, "wins": 4, "ties": 3, "losses": 2}
    turned = pair | {"a": "y", "b": "x", "label_a": "Y", "label_b": "X"}
    turned |= {"difference": -0.1, "low": -0.3, "high": 0.05, "wins": 2, "losses": 4}
    assert both_ways(pd.DataFrame([pair])).to_dict("records") == [pair, turned]
