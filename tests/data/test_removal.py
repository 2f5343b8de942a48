"""Deleting and renaming datasets: nothing is left, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.query import Filter
from evidencebench_core.data.removal import dataset_dependents, delete_dataset, in_words, rename_dataset
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError, UnknownNameError
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
    before, words = rows(store), Filter(sentences="the")
    matching = store.matching("tiny", words)
    ingest(store, written(OTHER, tmp_path / "other.json"))
    assert store.matching("other", Filter(hypothesis="zebras", sentences="graze")) == ("mine",)
    assert dataset_dependents(store, "other") == {"instance": 2}
    delete_dataset(store, "other")
    assert rows(store) == before
    assert store.matching("tiny", words) == matching
    with pytest.raises(UnknownNameError):
        delete_dataset(store, "other")
    # Rows get the numbers of those that are gone: their words must be gone too.
    again = {
        "new": raw_instance(["# Tea", "> Tea was drunk.", "They slept."], {"a": [1]}, hypothesis="Tea calms.")
    }
    ingest(store, written(again, tmp_path / "again.json"))
    assert store.matching("again", Filter(hypothesis="zebras")) == ()
    assert store.matching("again", Filter(sentences="zebras")) == ()
    assert store.matching("again", Filter(hypothesis="calms", sentences="drunk")) == ("new",)
    with store.write() as db:
        assert db.execute("PRAGMA secure_delete").fetchone() == (2,)  # else 100,000 instances take minutes
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")


@pytest.mark.parametrize("staying", ["mine", "shared"])
def test_what_little_stays_is_found_as_before(store: Store, tmp_path: Path, staying: str) -> None:
    ingest(store, written({staying: OTHER[staying]}, tmp_path / "other.json"))
    found = [Filter(hypothesis="question"), Filter(hypothesis="zebras"), Filter(sentences="the")]
    before = [store.matching("other", words) for words in found]
    assert (staying,) in before
    delete_dataset(store, "tiny")
    assert [store.matching("other", words) for words in found] == before
    again = {"tiny_0": {**tiny_dataset()["tiny_0"], "hypothesis": "Something else entirely."}}
    ingest(store, written(again, tmp_path / "again.json"))  # rows get the numbers of those that are gone
    assert store.matching("again", Filter(hypothesis="tea")) == ()
    with store.write() as db:
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


def test_counts_in_words() -> None:
    assert in_words({"instance": 6, "run": 3, "note": 1}) == "6 instances, 3 runs and 1 note"
    assert (in_words({"run": 1}), in_words({})) == ("1 run", "nothing else")
