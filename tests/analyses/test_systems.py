"""Recalls side by side, from arrays."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.frame import runs_named
from evidencebench_core.analyses.systems import systems
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from tests.analyses.stores import given_run
from tests.factories import raw_instance, store_with

DATASET = {
    "a": raw_instance(9, {"x": [1], "y": [2]}, ["x"], paper_id="p"),
    "b": raw_instance(9, {"x": [3]}, paper_id="p"),
    "c": raw_instance(9, {"x": [4]}, paper_id="q"),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(DATASET, tmp_path, "given")


def test_instances_that_all_have_in_the_order_of_the_file(store: Store) -> None:
    whole = given_run(store, {"c": [4], "b": [0], "a": [1]}, "er@2")
    part = given_run(store, {"a": [1, 2], "c": []}, "er@2", "abstract-tail")
    found = systems(store, [whole[:8], part, whole], "er@2")
    assert found.labels == {whole: "lead", part: "abstract-tail"}
    assert (found.recalls.index.tolist(), found.papers) == (["a", "c"], ["p", "q"])
    assert found.recalls.T.to_numpy().tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert found.notes == ("Left out: 1 instances that abstract-tail has not answered.",)


def test_runs_are_over_the_dataset_that_is_named(store: Store) -> None:
    run = given_run(store, {"a": [1]}, "er@2")
    assert [info.id for info in runs_named(store, [run, run[:6]], "given")] == [run]
    with pytest.raises(SettingError):
        runs_named(store, [run], "other")
    with pytest.raises(UnknownNameError):
        runs_named(store, ["ffffffffffff"])
