"""Runs on parts of a dataset."""

import pandas as pd

from evidencebench_core.analyses.slices import slice_frame, slice_report, slices, thirds
from evidencebench_core.data import Store
from evidencebench_core.tasks import Task, task_named
from tests.analyses.stores import given_run, systems_of
from tests.factories import raw_instance

TASK = task_named("er@optimal")
PAPER = [
    "# Title", "> We asked.", "# Methods", "We measured.", "# Results", "It fell.", "It rose.", "# Discussion", "So."
]  # fmt: skip
DATASET = {
    "a": raw_instance(PAPER, {"x": [1], "y": [1, 5]}, ["x"], paper_id="p1"),
    "b": raw_instance(PAPER, {"x": [1]}, ["x"], paper_id="p2"),
    "c": raw_instance(PAPER, {"x": [5], "y": [5, 6], "z": [3]}, ["x", "y"], paper_id="p3"),
    "d": raw_instance(PAPER * 4, {"x": [1], "y": [17]}, ["x"], paper_id="p3"),
    "e": raw_instance(PAPER * 4, {"x": [17]}, paper_id="p4"),  # in the middle
}


def members(store: Store, ids: str, task: Task) -> dict[str, dict[str, str]]:
    """By family, by slice, the instances in it."""
    families = slice_frame(store, "tiny", tuple(ids), task)
    return {
        family: {name: "".join(slices.index[slices == name]) for name in slices.cat.categories}
        for family, slices in families.items()
    }


def test_thirds_by_hand() -> None:
    # Six values: the cuts are the 2nd and the 4th, 2 and 4.
    six = thirds(pd.Series([1, 2, 3, 4, 5, 9]))
    assert six.tolist() == ["1 to 2", "1 to 2", "3 to 4", "3 to 4", "5 to 9", "5 to 9"]
    assert six.categories.tolist() == ["1 to 2", "3 to 4", "5 to 9"]
    # Equal values stay together.
    assert thirds(pd.Series([1, 1, 1, 1, 2, 7]), "%").tolist() == ["1%"] * 4 + ["2 to 7%"] * 2
    assert len(thirds(pd.Series([], dtype=int))) == 0


def test_the_slices_of_a_dataset(store: Store) -> None:
    families = members(store, "abcd", TASK)
    # c: results cover two aspects, methods one. d: abstract and discussion one each, the first counts.
    sections = families["section with most aspects"]
    assert (sections["abstract"], sections["results"], sections["methods"]) == ("abd", "c", "")
    assert families["sentences"] == {"9": "abc", "36": "d"}
    assert families["aspects"] == {"1 to 2": "abd", "3": "c"}  # 2, 1, 3, 2: both cuts are 2
    # The first and last ten sentences are all of a paper of 9; of 36 they leave out 17.
    assert families["ends coverage"] == {"under 20%": "", "20 to 80%": "d", "over 80%": "abc"}
    assert members(store, "e", TASK)["ends coverage"]["under 20%"] == "e"
    of_results = members(store, "abcd", task_named("result-er@5"))
    assert of_results["result aspects"] == {"1": "abd", "2": "c"}
    assert of_results["section with most aspects"]["results"] == "c"


def test_by_hand() -> None:
    compared = systems_of([[1.0, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 1.0]], ("p", "q", "r", "r"))
    halves = pd.Categorical(["first", "first", "last", "last"])
    families = pd.DataFrame({"half": halves, "all": pd.Categorical(["x"] * 4)}, index=compared.recalls.index)
    report = slice_report(compared, families, instances=True)
    recall = report.tables["recall"]
    assert recall["recall"].tolist() == [0.75, 0.5, 0.0, 0.5]
    assert recall["n"].tolist() == [2] * 4
    assert recall["few"].all()
    assert any("No slices by all: all instances are alike" in note for note in report.notes)
    first, last = report.as_dict()["tables"]["difference"]
    assert (first["a"], first["b"], first["difference"]) == ("B", "A", -0.25)
    assert (first["wins"], first["ties"], first["losses"]) == (0, 1, 1)
    # The first half holds papers p (-0.5) and q (0): two papers leave all open.
    assert (first["low"], first["high"]) == (-1.0, 1.0)
    # The last half is one paper, which says nothing about others.
    assert (last["difference"], last["low"], last["high"]) == (0.5, None, None)
    instances = report.tables["instances"]
    assert instances["instance"].tolist() == ["i0", "i1", "i2", "i3"]
    assert instances["B"].tolist() == [0.5, 0.5, 0.0, 1.0]


def test_no_common_instance_gives_empty_tables(store: Store) -> None:
    runs = [given_run(store, {"a": [1]}, "er@2"), given_run(store, {"c": [4]}, "er@2", "abstract-tail")]
    report = slices(store, runs, "er@2", instances=True)
    assert [len(table) for table in report.tables.values()] == [0, 0, 0]
    assert "difference" in report.tables["difference"].columns
