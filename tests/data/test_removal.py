"""Deleting and renaming datasets, and those that grow by hand: nothing is left, and nothing else is touched."""

from pathlib import Path

import pytest

from evidencebench_core.data.formats import instance_from
from evidencebench_core.data.ingestion import add_instance, ingest
from evidencebench_core.data.store import MARKED_BY_HAND, Store
from evidencebench_core.data.upkeep import delete_dataset, rename_dataset
from evidencebench_core.errors import InstanceError, StoreError, UnknownNameError
from tests.data.conftest import content
from tests.factories import raw_instance, tiny_dataset, written

ZEBRAS = raw_instance(["# Zebras", "> Zebras graze.", "They sleep."], {"a": [1]}, hypothesis="Zebras eat.")
TEA = raw_instance(["# Tea", "> Tea was drunk.", "They slept."], {"a": [1]}, hypothesis="Tea calms.")
OTHER = {"mine": ZEBRAS, "shared": {**tiny_dataset()["tiny_0"], "hypothesis": "Another question."}}


def test_a_deleted_dataset_leaves_nothing_behind_and_the_others_whole(store: Store, tmp_path: Path) -> None:
    before = content(store)
    ingest(store, written(OTHER, tmp_path / "other.json"))
    assert store.matching("other", "zebras", "graze") == ("mine",)
    delete_dataset(store, "other")
    assert content(store) == before
    with pytest.raises(UnknownNameError):
        delete_dataset(store, "other")
    # Rows get the numbers of those that are gone: their words must be gone too.
    ingest(store, written({"new": TEA}, tmp_path / "again.json"))
    assert store.matching("again", "zebras") == store.matching("again", sentences="zebras") == ()
    assert store.matching("again", "calms", "drunk") == ("new",)
    for name in ("again", "tiny"):
        delete_dataset(store, name)
    assert not any(content(store).values())
    with store.read() as db:
        assert db.execute("PRAGMA secure_delete").fetchone() == (2,)  # else 100,000 instances take minutes


def test_a_renamed_dataset_is_the_same_under_a_name_that_ingest_would_take(
    store: Store, tmp_path: Path
) -> None:
    ingest(store, written(OTHER, tmp_path / "other.json"))
    info = store.dataset("tiny")
    for name, problem in ((" ", "blank"), ("other", "already")):
        with pytest.raises(StoreError, match=problem):
            rename_dataset(store, "tiny", name)
    renamed = rename_dataset(store, "tiny", "my own")
    assert (renamed.id, renamed.sha256, store.ids("my own")) == (info.id, info.sha256, tuple(tiny_dataset()))
    assert rename_dataset(store, "my own", "my own") == renamed
    with pytest.raises(UnknownNameError, match="my own"):
        store.dataset("tiny")


def test_one_that_is_marked_by_hand_grows_and_stays_the_same_dataset(store: Store) -> None:
    before = content(store)
    first = add_instance(store, "mine", instance_from("z", ZEBRAS))
    assert (first.n_instances, first.n_papers, first.n_result_instances) == (1, 1, 0)
    assert (first.source, first.synthetic) == (MARKED_BY_HAND, False)
    # The same paper as in the other dataset, and gold that is read at once.
    second = add_instance(store, "mine", instance_from("t", tiny_dataset()["tiny_1"]))
    assert (second.id, second.sha256, second.n_instances) == (first.id, first.sha256, 2)
    assert second.stamp != first.stamp
    assert store.paper_ids("mine").keys() == {"z", "t"}
    assert store.get("mine", "t") == instance_from("t", tiny_dataset()["tiny_1"])
    for error, name in ((InstanceError, "mine"), (StoreError, "tiny")):  # "z" is there; came from a file
        with pytest.raises(error):
            add_instance(store, name, instance_from("z", ZEBRAS))
    delete_dataset(store, "mine")
    assert content(store) == before
