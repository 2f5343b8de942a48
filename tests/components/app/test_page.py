"""Figures in words."""

from __future__ import annotations

import math

import pytest

from components.app.page import points


@pytest.mark.parametrize(
    ("difference", "low", "high", "mark", "text"),
    [
        (0.138, 0.074, 0.204, "", "+13.8 (7.4 to 20.4)"),
        (-0.0004, -0.1, -0.0002, "", "+0.0 (-10.0 to 0.0)"),  # no minus before a 0
        (0.05, math.nan, math.nan, "", "+5.0"),
        (-0.05, -0.1, 0.1, " ns", "-5.0 ns (-10.0 to 10.0)"),
        (math.nan, math.nan, math.nan, "", "–"),
    ],
)
def test_a_difference_with_its_interval(
    difference: float, low: float, high: float, mark: str, text: str
) -> None:
    assert points({"difference": difference, "low": low, "high": high}, mark) == text
