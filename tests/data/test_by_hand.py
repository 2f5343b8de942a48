"""A dataset of instances that were marked by hand, one by one."""

from __future__ import annotations

import pytest

from evidencebench_core.data.ingest import add_instance
from evidencebench_core.data.query import Filter
from evidencebench_core.data.removal import delete_instance
from evidencebench_core.data.store import MARKED_BY_HAND, Store
from evidencebench_core.errors import InstanceError, StoreError, UnknownNameError
from tests.factories import raw_instance, tiny_dataset

ZEBRAS = raw_instance(["# Zebras", "> Zebras graze.", "They sleep."], {"a": [1]}, hypothesis="Zebras eat.")


def test_it_grows_and_shrinks_and_stays_the_same_dataset(store: Store) -> None:
    first = add_instance(store, "mine", "z", ZEBRAS)
    assert (first.n_instances, first.n_papers, first.n_result_instances) == (1, 1, 0)
    assert (first.source, first.synthetic) == (MARKED_BY_HAND, False)
    # The same paper as in the other dataset, and gold that is read at once.
    second = add_instance(store, "mine", "t", tiny_dataset()["tiny_1"])
    assert (second.id, second.sha256, second.n_instances) == (first.id, first.sha256, 2)
    assert second.version != first.version
    assert store.paper_ids("mine").keys() == {"z", "t"}
    assert store.raw("mine", "t") == tiny_dataset()["tiny_1"]
    with pytest.raises(StoreError, match="has an instance"):
        add_instance(store, "mine", "z", ZEBRAS)
    delete_instance(store, "mine", "z")
    assert store.ids("mine") == ("t",)
    assert store.matching("mine", Filter(sentences="zebras")) == ()
    add_instance(store, "mine", "z", ZEBRAS)
    assert store.matching("mine", Filter(hypothesis="zebras", sentences="graze")) == ("z",)
    delete_instance(store, "mine", "t")
    assert store.get("tiny", "tiny_1").sentences  # the paper that both had
    delete_instance(store, "mine", "z")
    assert [info.name for info in store.datasets()] == ["tiny"]
    with store.write() as db:
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")


def test_what_came_from_a_file_stays_as_it_was_read(store: Store) -> None:
    with pytest.raises(StoreError, match="came from a file"):
        add_instance(store, "tiny", "z", ZEBRAS)
    with pytest.raises(StoreError, match="came from a file"):
        delete_instance(store, "tiny", "tiny_0")
    with pytest.raises(InstanceError):
        add_instance(store, "mine", "z", {**ZEBRAS, "aspect_list_ids": ["b"]})
    add_instance(store, "mine", "z", ZEBRAS)
    with pytest.raises(UnknownNameError):
        delete_instance(store, "mine", "y")
    assert [info.name for info in store.datasets()] == ["tiny", "mine"]
