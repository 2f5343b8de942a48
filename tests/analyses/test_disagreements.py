"""Two runs aspect by aspect."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.disagreements import disagreements
from evidencebench_core.data import Store
from tests.analyses.stores import given_run
from tests.factories import raw_instance, store_with


@pytest.fixture
def store(tmp_path: Path) -> Store:
    raw = {
        "one": raw_instance(8, {"w": [1], "x": [2, 3], "y": [4], "z": [5]}, ["w"], paper_id="p"),
        "two": raw_instance(8, {"w": [1], "x": [2]}, paper_id="q"),
        "three": raw_instance(8, {"w": [1]}, paper_id="q"),
    }
    return store_with(raw, tmp_path)


def test_by_hand(store: Store) -> None:
    # one: A picks 1 and 3 and finds w and x; B picks 3 and 4 and finds x and y; nobody finds z.
    # two: A finds nothing; B finds w and x. three: only B has answered.
    a = given_run(store, {"one": (1, 3), "two": (7,)}, "er@10")
    b = given_run(store, {"one": (3, 4), "two": (1, 2), "three": (1,)}, "er@10", "random")
    report = disagreements(store, a, b, "er@10")
    counts = report.tables["counts"].set_index("outcome")
    assert counts["n"].to_dict() == {"only A": 1, "only B": 3, "neither": 1, "both": 1}
    assert (counts.loc["only B", "share"], counts.loc["only B", "n_instances"]) == (0.5, 2)
    # Drawn twice paper p, once each, twice q: only A is 1/4, 1/6, 0 of the aspects.
    assert (counts.loc["only A", "low"], counts.loc["only A", "high"]) == (0.0, 0.25)
    aspects = report.tables["aspects"]
    found = list(zip(aspects["instance"], aspects["label"], aspects["outcome"], strict=True))
    assert found == [
        ("two", "A1", "only B"),  # the instance with most of a kind of disagreement first
        ("two", "A2", "only B"),
        ("one", "A1", "only A"),
        ("one", "A3", "only B"),
        ("one", "A4", "neither"),
        ("one", "A2", "both"),
    ]
    assert aspects.iloc[2]["is_result"]
    assert aspects.iloc[5]["covering"] == (2, 3)
    assert any("1 instances that a run has not answered" in note for note in report.notes)
    few = disagreements(store, a, b, "er@10", at_most=1)
    assert few.tables["aspects"]["outcome"].tolist() == ["only B", "only A", "neither", "both"]
    assert few.tables["counts"]["n"].tolist() == [1, 3, 1, 1]


def test_result_tasks_look_at_result_aspects(store: Store) -> None:
    a = given_run(store, {"one": (1,)}, "result-er@5")
    b = given_run(store, {"one": (3,)}, "result-er@5", "random")
    report = disagreements(store, a, b, "result-er@5")
    assert report.tables["aspects"]["outcome"].tolist() == ["only A"]
    assert any("2 instances without anything to cover" in note for note in report.notes)


def test_more_picks_than_the_budget_find_by_chance(store: Store) -> None:
    # K = 1, two picks: each aspect that one pick covers is found with probability 1/2, which counts; of
    # three picks with 1/3, which does not.
    a = given_run(store, {"two": (1, 7)}, "er@1")
    b = given_run(store, {"two": (1, 6, 7)}, "er@1", "random")
    outcomes = disagreements(store, a, b, "er@1").tables["aspects"]
    assert outcomes.set_index("label")["outcome"].to_dict() == {"A1": "only A", "A2": "neither"}


def test_without_common_answers_the_tables_are_empty(store: Store) -> None:
    a, b = given_run(store, {"one": (1,)}, "er@10"), given_run(store, {"two": (1,)}, "er@10", "random")
    report = disagreements(store, a, b, "er@10")
    assert len(report.tables["aspects"]) == 0
    assert report.tables["counts"]["n"].tolist() == [0, 0, 0, 0]
    assert report.tables["counts"]["share"].isna().all()
