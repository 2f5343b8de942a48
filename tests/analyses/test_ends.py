"""The paper's split, derived by hand."""

import pytest

from evidencebench_core.analyses.ends import ends, group_frame
from evidencebench_core.data import Store
from tests.analyses.stores import given_run
from tests.factories import raw_instance

# 30 sentences each; with 10 and 10 the middle is 10 to 19. p1 has both "high" instances.
DATASET = {
    "high": raw_instance(30, {"x": [0, 15], "y": [20]}, paper_id="p1"),  # 1
    "high too": raw_instance(30, {"x": [9]}, paper_id="p1"),  # 1
    "edge": raw_instance(30, {"v": [0], "w": [1], "x": [2], "y": [3], "z": [12]}, paper_id="p2"),  # .8
    "low": raw_instance(30, {"x": [10], "y": [19]}, paper_id="p3"),  # 0
    "low too": raw_instance(30, {"x": [11, 12]}, paper_id="p4"),  # 0
    "short": raw_instance(5, {"x": [2], "y": []}, paper_id="p5"),  # all ends, but one aspect is uncovered: .5
}
PICKS = {"high": [0], "high too": [9], "edge": [0], "low": [10], "low too": [0], "short": []}


def test_groups_by_hand(store: Store) -> None:
    frame = group_frame(store, "tiny")
    assert frame["coverage"].tolist() == [1.0, 1.0, 0.8, 0.0, 0.0, 0.5]
    # Over 80% is more than 80%: 0.8 itself is in neither group.
    assert frame["group"].tolist() == ["above", "above", "neither", "below", "below", "neither"]
    groups = ends(store, "tiny").tables["groups"].set_index("group")
    assert groups["n_papers"].to_dict() == {"above": 1, "neither": 2, "below": 2}
    assert groups["n_all_ends"].to_dict() == {"above": 0, "neither": 1, "below": 0}


def test_recall_in_each_group_and_the_difference(store: Store) -> None:
    # er@1 recalls: high 1/2, high too 1; edge 1/5, short 0; low 1/2, low too 0.
    run = given_run(store, PICKS, "er@1")
    tables = ends(store, "tiny", [run], "er@1").tables
    recall = tables["recall"].set_index("group")
    assert recall["recall"].to_dict() == pytest.approx({"above": 0.75, "neither": 0.1, "below": 0.25})
    # Random: one of 30 meets x of "high" (2 sentences) with 2/30, y with 1/30: 1/20; "high too" 1/30.
    assert recall.loc["above", "chance"] == pytest.approx((1 / 20 + 1 / 30) / 2)
    # Ceiling with one sentence: 1/2 and 1.
    assert recall.loc["above", "ceiling"] == pytest.approx(0.75)
    # below: papers p3 (1/2) and p4 (0) leave all open. "above" is one paper: nothing is known of its spread.
    assert (recall.loc["below", "low"], recall.loc["below", "high"]) == (0.0, 1.0)
    assert recall["low"].isna()["above"]
    (row,) = tables["difference"].to_dict("records")
    expected = {"n_above": 2, "n_below": 2, "few": True, "difference": pytest.approx(0.5), "low": None}
    assert {name: row[name] for name in expected} == expected


def test_unanswered_are_left_out_and_counted(store: Store) -> None:
    run = given_run(store, {"high": [0], "low": [10]}, "er@1")
    recall = ends(store, "tiny", [run], "er@1").tables["recall"].set_index("group")
    assert recall["n"].to_dict() == {"above": 1, "neither": 0, "below": 1}
    assert recall["n_missing"].to_dict() == {"above": 1, "neither": 2, "below": 1}
    assert recall["recall"].isna()["neither"]  # undefined, not 0
