"""Deleting and renaming a dataset, deleting an instance that was marked by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from evidencebench_core.data.hidden import hidden, remove_instances
from evidencebench_core.data.ingest import check_dataset_name, count_instances
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, datasets_in
from evidencebench_core.errors import StoreError, shown
from evidencebench_core.words import quantity

_COUNTS: Final = {
    "instance": "instances WHERE dataset_id = :id",
    "run": "runs WHERE dataset_id = :id",
    "note": "notes WHERE dataset_id = :id",
    "added wording": "hypothesis_variants WHERE dataset_id = :id",
    "draft": "hypothesis_drafts WHERE dataset_id = :id",
    "marking": "annotations WHERE has_marks AND substr(paper, 1, length(:key)) = :key",
    "model run": "chat_runs WHERE subject = :sha256",
    "mark": "answer_marks WHERE subject = :sha256 OR subject IN (SELECT id FROM chat_runs WHERE subject = :sha256)",
}
_OF_INSTANCE: Final = "instance_id = :instance AND run_id IN (SELECT id FROM runs WHERE dataset_id = :id)"
_OF_DATASET: Final = ("notes", "hypothesis_variants", "hypothesis_drafts")  # tables with both ids
_COUNTS_OF_INSTANCE: Final = {
    "answer": f"retrievals WHERE {_OF_INSTANCE} AND error IS NULL",
    "note": "notes WHERE dataset_id = :id AND instance_id = :instance",
    "marking": "annotations WHERE has_marks AND paper = :key || :instance",
}


def dataset_dependents(store: Store, name: str) -> dict[str, int]:
    """How many instances, runs, notes, ... go with a dataset, by noun; without zeros."""
    values = _values(store.dataset(name))
    with store.read() as db:
        return counted(db, _COUNTS, values)


def delete_dataset(store: Store, name: str) -> dict[str, int]:
    """Delete a dataset with all that depends on it; returns `dataset_dependents`.

    It is gone at once for everybody; its rows go batch by batch, so that others can write meanwhile.

    Stored answers of language models stay: they were paid for, and are found again if the dataset comes back.
    """
    info = store.dataset(name)
    values = _values(info)
    with hidden(store) as token, store.write() as db:
        gone = counted(db, _COUNTS, values)
        db.execute("DELETE FROM annotations WHERE substr(paper, 1, length(:key)) = :key", values)
        db.execute(f"DELETE FROM {_COUNTS['mark']}", values)
        judged = "SELECT id FROM chat_runs WHERE subject = :sha256"
        db.execute(f"DELETE FROM chat_runs WHERE subject = :sha256 OR subject IN ({judged})", values)
        hide = "UPDATE datasets SET name = :token, sha256 = :token, ingested_at = '' WHERE id = :id"
        db.execute(hide, {**values, "token": token})
    return gone


def instance_dependents(store: Store, name: str, instance_id: str) -> dict[str, int]:
    """How many answers, notes and markings go with an instance that was marked by hand; without zeros."""
    with store.read() as db:
        return counted(db, _COUNTS_OF_INSTANCE, {**_values(store.dataset(name)), "instance": instance_id})


def delete_instance(store: Store, name: str, instance_id: str) -> dict[str, int]:
    """Delete an instance that was marked by hand with all that depends on it; returns `instance_dependents`.

    The last one goes with its dataset.

    Raises
    ------
    StoreError
        If the dataset came from a file: that stays as it was read.
    """
    info = _by_hand(store, name, instance_id)
    if info.n_instances == 1:
        return delete_dataset(store, name)
    values = {**_values(info), "instance": instance_id}
    with store.write() as db:
        gone = counted(db, _COUNTS_OF_INSTANCE, values)
        db.execute("DELETE FROM annotations WHERE paper = :key || :instance", values)
        db.execute(f"DELETE FROM retrievals WHERE {_OF_INSTANCE}", values)
        for table in _OF_DATASET:
            db.execute(f"DELETE FROM {table} WHERE dataset_id = :id AND instance_id = :instance", values)
        own = "SELECT id, paper FROM instances WHERE dataset_id = :id AND instance_id = :instance"
        remove_instances(db, db.execute(own, values).fetchall())
        count_instances(db, info.id)
    return gone


def _by_hand(store: Store, name: str, instance_id: str) -> DatasetInfo:
    """The dataset of an instance that was marked by hand."""
    info = store.dataset(name)
    if info.source != MARKED_BY_HAND:
        remedy = "It stays as it was read; a dataset can be deleted as a whole."
        raise StoreError(f"dataset {shown(name)}", "came from a file", remedy)
    store.rows(name, [instance_id])  # an error where there is none
    return info


def rename_dataset(store: Store, name: str, new: str) -> DatasetInfo:
    """Give a dataset another name; what depends on it stays with it.

    Raises
    ------
    StoreError
        If the name is blank or taken, as in `ingest`.
    """
    new = check_dataset_name(new)
    info = store.dataset(name)
    with store.write() as db:
        if new != info.name and any(other.name == new for other in datasets_in(db)):
            raise StoreError(f"dataset {shown(new)}", f"is in {store.path} already", "Choose another name.")
        db.execute("UPDATE datasets SET name = ? WHERE id = ?", (new, info.id))
    return store.dataset(new)


def counted(
    db: sqlite3.Connection, tables: Mapping[str, str], values: Mapping[str, object]
) -> dict[str, int]:
    """Numbers of rows by noun, without zeros."""
    counts = {
        noun: db.execute(f"SELECT count(*) FROM {rows}", values).fetchone()[0]
        for noun, rows in tables.items()
    }
    return {noun: count for noun, count in counts.items() if count}


def in_words(counts: Mapping[str, int]) -> str:
    """``6 instances, 3 runs and 1 note``."""
    *first, last = [quantity(count, noun) for noun, count in counts.items()] or ["nothing else"]
    return f"{', '.join(first)} and {last}" if first else last


def _values(info: DatasetInfo) -> dict[str, object]:
    return {"id": info.id, "sha256": info.sha256, "key": f"instance:{info.sha256}:"}
