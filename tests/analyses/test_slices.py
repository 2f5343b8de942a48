"""Runs on parts of a dataset."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.analyses.ends import group_frame
from evidencebench_core.analyses.slices import (
    _by_ends,
    main_sections,
    slice_report,
    slices,
    slices_of,
    thirds,
)
from evidencebench_core.analyses.systems import Systems
from evidencebench_core.data import Store
from evidencebench_core.tasks import task_named
from tests.analyses.stores import complete_run
from tests.factories import raw_instance, store_with

TASK = task_named("er@optimal")
PAPER = [
    "# Title", "> We asked.", "# Methods", "We measured.", "# Results", "It fell.", "It rose.", "# Discussion", "So."
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """``tiny``: four instances, three in the abstract, one in the results."""
    raw = {
        "a": raw_instance(PAPER, {"x": [1], "y": [1, 5]}, ["x"], paper_id="p1"),
        "b": raw_instance(PAPER, {"x": [1]}, ["x"], paper_id="p2"),
        "c": raw_instance(PAPER, {"x": [5], "y": [5, 6], "z": [3]}, ["x", "y"], paper_id="p3"),
        "d": raw_instance([*PAPER, *PAPER], {"x": [1], "y": [8]}, ["x"], paper_id="p3"),
    }
    return store_with(raw, tmp_path)


def shown(members: dict[str, np.ndarray]) -> dict[str, list[bool]]:
    return {name: chosen.tolist() for name, chosen in members.items()}


def members(family: dict[str, np.ndarray]) -> dict[str, str]:
    return {name: "".join(np.array(list("abcd"))[chosen]) for name, chosen in family.items()}


def test_thirds_by_hand() -> None:
    # Six values: the cuts are the 2nd and the 4th, 2 and 4.
    assert shown(thirds([1, 2, 3, 4, 5, 9])) == {
        "1 to 2": [True] * 2 + [False] * 4,
        "3 to 4": [False] * 2 + [True] * 2 + [False] * 2,
        "5 to 9": [False] * 4 + [True] * 2,
    }
    # Equal values stay together.
    assert shown(thirds([1, 1, 1, 1, 2, 7], "%")) == {
        "1%": [True] * 4 + [False] * 2,
        "2 to 7%": [False] * 4 + [True] * 2,
    }
    assert shown(thirds([3, 3])) == {"3": [True, True]}
    assert thirds([]) == {}


@given(st.lists(st.integers(0, 9), min_size=1))
def test_thirds_part_the_values_in_their_order(values: list[int]) -> None:
    slices_of_values = list(thirds(values).values())
    assert (np.sum(slices_of_values, axis=0) == 1).all()
    ranges = [(min(its), max(its)) for its in (np.array(values)[one] for one in slices_of_values)]
    assert all(before[1] < after[0] for before, after in pairwise(ranges))


def test_the_slices_of_a_dataset(store: Store) -> None:
    families, notes = slices_of(store, "tiny", ["a", "b", "c", "d"], TASK)
    # c: results cover two aspects, methods one. d: abstract and discussion one each, the first counts.
    assert members(families["section with most aspects"]) == {"abstract": "abd", "results": "c"}
    assert members(families["sentences"]) == {"9": "abc", "18": "d"}
    assert members(families["aspects"]) == {"1 to 2": "abd", "3": "c"}  # 2, 1, 3, 2: both cuts are 2
    # The first and last ten sentences are all of a paper of 9 or 18: no instance is apart from another.
    assert "ends coverage" not in families
    assert any("by ends coverage: all instances are alike" in note for note in notes)


def test_result_tasks_count_result_aspects(store: Store) -> None:
    families, _ = slices_of(store, "tiny", ["a", "b", "c", "d"], task_named("result-er@5"))
    assert members(families["result aspects"]) == {"1": "abd", "2": "c"}
    assert main_sections(store, "tiny", ["c"], task_named("result-er@5")) == {"c": "results"}


def test_instances_without_aspects_are_at_no_ends(tmp_path: Path) -> None:
    long = ["x"] * 30
    raw = {
        "low": raw_instance(long, {"x": [15]}, paper_id="p1"),
        "high": raw_instance(long, {"x": [0]}, paper_id="p2"),
        "middle": raw_instance(long, {"x": [0], "y": [15]}, paper_id="p3"),
    }
    store = store_with(raw, tmp_path)
    instances = group_frame(store, "tiny")
    assert members_of(_by_ends(np.array([*instances["coverage"], np.nan]))) == {
        "under 20%": [0],
        "20 to 80%": [2],
        "over 80%": [1],
    }


def members_of(family: dict[str, np.ndarray]) -> dict[str, list[int]]:
    return {name: np.flatnonzero(chosen).tolist() for name, chosen in family.items()}


def systems(values: list[list[float]], papers: tuple[str, ...]) -> Systems:
    n = len(values[0])
    return Systems(TASK, "tiny", ("A", "B"), ("a", "b"), tuple("abcdefgh"[:n]), papers, np.array(values), ())


def test_by_hand() -> None:
    compared = systems([[1.0, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 1.0]], ("p", "q", "r", "r"))
    halves = {"half": {"first": np.array([1, 1, 0, 0], bool), "last": np.array([0, 0, 1, 1], bool)}}
    report = slice_report(compared, halves, instances=True)
    recall = report.tables["recall"]
    assert recall["recall"].tolist() == [0.75, 0.5, 0.0, 0.5]
    assert recall["n"].tolist() == [2] * 4
    assert recall["few"].all()
    first, last = report.as_dict()["tables"]["difference"]
    assert (first["a"], first["b"], first["difference"]) == ("B", "A", -0.25)
    assert (first["wins"], first["ties"], first["losses"]) == (0, 1, 1)
    # The first half holds papers p (-0.5) and q (0): drawn alone or together their mean is -0.5 to 0.
    assert (first["low"], first["high"]) == (-0.5, 0.0)
    # The last half is one paper, which says nothing about others.
    assert (last["difference"], last["low"], last["high"]) == (0.5, None, None)
    instances = report.tables["instances"]
    assert instances["instance"].tolist() == list("abcd")
    assert instances["B"].tolist() == [0.5, 0.5, 0.0, 1.0]


def test_from_the_store(store: Store) -> None:
    runs = [complete_run(store, "tiny", retriever) for retriever in ("lead", "oracle")]
    report = slices(store, runs)
    assert set(report.tables["recall"]["label"]) == {"lead", "oracle"}
    of_length = report.tables["recall"].query("family == 'sentences'")
    assert of_length.groupby("label")["n"].sum().tolist() == [4, 4]


def test_no_common_instance_gives_empty_tables() -> None:
    compared = Systems(TASK, "tiny", ("A", "B"), ("a", "b"), (), (), np.zeros((2, 0)), ())
    report = slice_report(compared, {})
    assert len(report.tables["recall"]) == 0
    assert "difference" in report.tables["difference"].columns
