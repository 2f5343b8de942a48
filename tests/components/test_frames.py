"""Frames and figures that single pages make of what the core gives them."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.app.page import points
from components.compare.systems import both_ways
from components.leaderboard.runs import OUTCOME_COLUMNS
from components.middle.split import bar_of, bars
from evidencebench_core.retrievers.llm import OUTCOME_KINDS, OutcomeCounts


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


def test_a_pair_turned_round_changes_sides_and_sign() -> None:
    pair = {"a": "x", "b": "y", "label_a": "X", "label_b": "Y", "n": 9, "p_holm": 0.2}
    pair |= {"difference": 0.1, "low": -0.05, "high": 0.3, "effect": 0.5, "wins": 4, "ties": 3, "losses": 2}
    turned = pair | {"a": "y", "b": "x", "label_a": "Y", "label_b": "X"}
    turned |= {"difference": -0.1, "low": -0.3, "high": 0.05, "effect": -0.5, "wins": 2, "losses": 4}
    assert both_ways(pd.DataFrame([pair])).to_dict("records") == [pair, turned]


def test_edges_belong_to_the_bar_above_and_the_last_holds_all() -> None:
    coverage = pd.Series([0.0, 0.049, 0.05, 0.15, 0.3, 0.5, 0.999, 1.0, math.nan])
    # 0.15 * 20 and 0.3 * 20 are a little off 3 and 6 in binary.
    assert list(bar_of(coverage)) == [0, 0, 1, 3, 6, 10, 19, 19, -1]
    counted = bars(pd.DataFrame({"coverage": coverage}))
    assert (len(counted), counted["n"].sum()) == (20, 8)
    assert (counted["n"][19], counted["low"][19], counted["high"][19]) == (2, 0.95, 1.0)


def test_every_count_of_outcomes_has_a_column_and_the_kinds_come_first() -> None:
    assert sorted(OUTCOME_COLUMNS) == sorted(OutcomeCounts().as_dict())
    assert list(OUTCOME_COLUMNS)[: len(OUTCOME_KINDS)] == list(OUTCOME_KINDS)
