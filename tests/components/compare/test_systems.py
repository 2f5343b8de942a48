"""Pairs of systems."""

from __future__ import annotations

import pandas as pd

from components.compare.systems import both_ways


def test_a_pair_turned_round_changes_sides_and_sign() -> None:
    pair = {"a": "x", "b": "y", "label_a": "X", "label_b": "Y", "n": 9, "p_holm": 0.2}
    pair |= {"difference": 0.1, "low": -0.05, "high": 0.3, "effect": 0.5, "wins": 4, "ties": 3, "losses": 2}
    there, back = both_ways(pd.DataFrame([pair])).to_dict("records")
    assert there == pair
    assert back == pair | {"a": "y", "b": "x", "label_a": "Y", "label_b": "X", "difference": -0.1} | {
        "low": -0.3,
        "high": 0.05,
        "effect": -0.5,
        "wins": 2,
        "losses": 4,
    }
