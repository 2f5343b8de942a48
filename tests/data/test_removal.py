"""Deleting and renaming datasets, and those that grow by hand: nothing is left, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data.ingest import add_instance, ingest
from evidencebench_core.data.removal import (
    delete_dataset,
    rename_dataset,
)
from evidencebench_core.data.store import MARKED_BY_HAND, Store
from evidencebench_core.errors import InstanceError, StoreError, StreamError, UnknownNameError
from tests.factories import raw_instance, tiny_dataset, written

OTHER = {
    "mine": raw_instance(
        ["# Zebras", "> Zebras graze.", "They sleep."], {"a": [1]}, hypothesis="Zebras eat."
    ),
    "shared": {**tiny_dataset()["tiny_0"], "hypothesis": "Another question."},
}
TABLES = ("papers", "instances", "bodies", "datasets")


def rows(store: Store) -> dict[str, int]:
    with store.read() as db:
        return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


def test_a_deleted_dataset_leaves_nothing_behind_and_the_others_whole(store: Store, tmp_path: Path) -> None:
    before, matching = rows(store), store.matching("tiny", sentences="the")
    ingest(store, written(OTHER, tmp_path / "other.json"))
    assert store.matching("other", "zebras", "graze") == ("mine",)
    delete_dataset(store, "other")
    assert rows(store) == before
    assert store.matching("tiny", sentences="the") == matching
    with store.read() as db:  # no word of it is left in the index
        count = "SELECT count(*) FROM hypothesis_words WHERE hypothesis_words MATCH 'zebras'"
        assert db.execute(count).fetchone()[0] == 0
    with pytest.raises(UnknownNameError):
        delete_dataset(store, "other")
    # Rows get the numbers of those that are gone: their words must be gone too.
    again = {
        "new": raw_instance(["# Tea", "> Tea was drunk.", "They slept."], {"a": [1]}, hypothesis="Tea calms.")
    }
    ingest(store, written(again, tmp_path / "again.json"))
    assert store.matching("again", "zebras") == ()
    assert store.matching("again", sentences="zebras") == ()
    assert store.matching("again", "calms", "drunk") == ("new",)
    with store.write() as db:
        assert db.execute("PRAGMA secure_delete").fetchone() == (2,)  # else 100,000 instances take minutes
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")


def test_the_last_dataset_goes_and_comes_back_the_same(store: Store, tmp_path: Path) -> None:
    instances = list(store.iter("tiny"))
    delete_dataset(store, "tiny")
    assert set(rows(store).values()) == {0}
    ingest(store, written(tiny_dataset(), tmp_path / "tiny.json"))
    assert list(store.iter("tiny")) == instances


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


ZEBRAS = raw_instance(["# Zebras", "> Zebras graze.", "They sleep."], {"a": [1]}, hypothesis="Zebras eat.")


def test_it_grows_and_stays_the_same_dataset(store: Store) -> None:
    first = add_instance(store, "mine", "z", ZEBRAS)
    assert (first.n_instances, first.n_papers, first.n_result_instances) == (1, 1, 0)
    assert (first.source, first.synthetic) == (MARKED_BY_HAND, False)
    # The same paper as in the other dataset, and gold that is read at once.
    second = add_instance(store, "mine", "t", tiny_dataset()["tiny_1"])
    assert (second.id, second.sha256, second.n_instances) == (first.id, first.sha256, 2)
    assert second.version != first.version
    assert store.paper_ids("mine").keys() == {"z", "t"}
    assert store.raw("mine", "t") == tiny_dataset()["tiny_1"]
    with pytest.raises(StreamError, match="'z': is there twice"):
        add_instance(store, "mine", "z", ZEBRAS)
    delete_dataset(store, "mine")
    assert store.get("tiny", "tiny_1").sentences  # the paper that both had
    with store.write() as db:
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")


def test_what_came_from_a_file_stays_as_it_was_read(store: Store) -> None:
    with pytest.raises(StoreError, match="came from a file"):
        add_instance(store, "tiny", "z", ZEBRAS)
    with pytest.raises(InstanceError):
        add_instance(store, "mine", "z", {**ZEBRAS, "aspect_list_ids": ["b"]})
    assert [info.name for info in store.datasets()] == ["tiny"]
