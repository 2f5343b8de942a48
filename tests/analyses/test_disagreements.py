"""Two runs aspect by aspect."""

from collections.abc import Mapping, Sequence

from evidencebench_core.analyses.disagreements import disagreements
from evidencebench_core.analyses.report import Report
from evidencebench_core.data import Store
from tests.analyses.stores import given_run
from tests.factories import raw_instance

DATASET = {
    "one": raw_instance(8, {"w": [1], "x": [2, 3], "y": [4], "z": [5]}, ["w"], paper_id="p"),
    "two": raw_instance(8, {"w": [1], "x": [2]}, paper_id="q"),
    "three": raw_instance(8, {"w": [1]}, paper_id="q"),
}
Picks = Mapping[str, Sequence[int]]


def report_of(store: Store, a: Picks, b: Picks, task: str) -> Report:
    return disagreements(store, given_run(store, a, task), given_run(store, b, task, "random"), task)


def test_by_hand(store: Store) -> None:
    # one: A picks 1 and 3 and finds w and x; B picks 3 and 4 and finds x and y; nobody finds z.
    # two: A finds nothing; B finds w and x. three: only B has answered.
    a, b = {"one": (1, 3), "two": (7,)}, {"one": (3, 4), "two": (1, 2), "three": (1,)}
    report = report_of(store, a, b, "er@10")
    counts = report.tables["counts"].set_index("outcome")
    assert counts["n"].to_dict() == {"only A": 1, "only B": 3, "neither": 1, "both": 1}
    assert (counts.loc["only B", "share"], counts.loc["only B", "n_instances"]) == (0.5, 2)
    # Only A is 1/4 of the aspects of paper p and none of q's: two papers leave all open.
    assert (counts.loc["only A", "low"], counts.loc["only A", "high"]) == (0.0, 1.0)
    aspects = report.tables["aspects"]
    assert list(zip(aspects["instance"], aspects["label"], aspects["outcome"], strict=True)) == [
        ("two", "A1", "only B"), ("two", "A2", "only B"),  # the instance with most of a disagreement first
        ("one", "A1", "only A"), ("one", "A3", "only B"), ("one", "A4", "neither"), ("one", "A2", "both"),
    ]  # fmt: skip
    assert any("1 instance that a run has not answered" in note for note in report.notes)


def test_what_counts(store: Store) -> None:
    for a, b, task, outcomes in (
        ({"one": (1,)}, {"one": (3,)}, "result-er@5", {"A1": "only A"}),
        # K = 1, two picks: each aspect that one pick covers is found with probability 1/2, which counts; of three
        # picks with 1/3, which does not.
        ({"two": (1, 7)}, {"two": (1, 6, 7)}, "er@1", {"A1": "only A", "A2": "neither"}),
        ({"one": (1,)}, {"two": (1,)}, "er@10", {}),  # nothing in common
    ):
        tables = report_of(store, a, b, task).tables
        assert tables["aspects"].set_index("label")["outcome"].to_dict() == outcomes
        assert tables["counts"]["n"].sum() == len(outcomes)
        assert tables["counts"]["share"].isna().all() == (not outcomes)
