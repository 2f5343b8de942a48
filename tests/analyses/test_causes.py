"""One rule at a time, at its threshold and just beyond."""

from typing import Any

import pandas as pd
import pytest

from evidencebench_core.analyses.causes import suggestions

NAN = float("nan")
# A miss that only the last rule is about: far down, enough words, at the end, picks from the body.
FAR: dict[str, Any] = {
    "budget": 4, "best_rank": 50, "distance": 46, "n_picks": 4, "n_adding": 2, "n_repeating": 0, "overlap": 0.5,
    "covering": (90,), "n_covering": 1, "n_sentences": 101, "picks": (10, 50, 80, 85), "front_share": 0.25,
    "types": ("normal_paragraph",),
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["far"]),
        ({"best_rank": pd.NA, "distance": pd.NA, "overlap": NAN, "front_share": NAN}, ["far"]),
        ({"best_rank": 7, "distance": 3}, ["budget", "near"]),
        ({"best_rank": 8, "distance": 4}, ["near"]),
        ({"best_rank": 14, "distance": 10}, ["near"]),
        ({"best_rank": 15, "distance": 11}, ["far"]),
        ({"n_adding": 4}, ["budget", "far"]),  # all four picks add an aspect
        ({"n_adding": 1, "n_picks": 1, "budget": 1}, ["far"]),  # with K = 1 that says nothing
        ({"n_adding": 3, "n_picks": 3}, ["far"]),  # a place was left
        ({"n_repeating": 1}, ["redundancy", "far"]),
        ({"overlap": 0.1}, ["vocabulary", "far"]),
        ({"overlap": 0.11}, ["far"]),
        ({"covering": (40, 60), "picks": (1, 2, 80, 90)}, ["position", "far"]),
        ({"covering": (40, 70), "picks": (1, 2, 80, 90)}, ["far"]),  # one stands outside
        ({"covering": (40, 60)}, ["far"]),  # pick 50 stands there too
        ({"front_share": 0.5}, ["front", "far"]),
        ({"front_share": 0.5, "types": ("normal_paragraph", "abstract")}, ["far"]),
    ],
)
def test_a_rule_applies_at_its_threshold(changes: dict[str, Any], expected: list[str]) -> None:
    assert list(suggestions(FAR | changes)) == expected


def test_causes_come_in_their_order_with_their_quantity() -> None:
    all_but_far = {"best_rank": 7, "distance": 3, "n_repeating": 2, "overlap": 0.08, "covering": (50,)}
    found = suggestions(FAR | all_but_far | {"picks": (1, 2), "front_share": 1.0})
    assert list(found) == ["budget", "redundancy", "vocabulary", "position", "front", "near"]
    assert "7" in found["budget"]
    assert "8%" in found["vocabulary"]
    assert "2 of 4" in found["redundancy"]
