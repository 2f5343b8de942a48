"""Deleting and renaming a dataset, or an instance that was marked by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from itertools import chain
from typing import Final

from evidencebench_core.data.ingest import check_dataset_name, count_instances
from evidencebench_core.data.packing import packed_paper, unpacked_paper
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, datasets_in
from evidencebench_core.errors import StoreError, shown
from evidencebench_core.words import quantity

_BATCH: Final = 256
_COUNTS: Final = {
    "instance": "instances WHERE dataset_id = :id",
    "run": "runs WHERE dataset_id = :id",
    "note": "notes WHERE dataset_id = :id",
    "saved filter": "saved_filters WHERE dataset_id = :id",
    "added wording": "hypothesis_variants WHERE dataset_id = :id",
    "draft": "hypothesis_drafts WHERE dataset_id = :id",
    "marking": "annotation_heads WHERE revision > 0 AND substr(paper, 1, length(:key)) = :key",
}
# Rows of instances that go: all of a dataset, or one of them.
_GONE: Final = (
    "SELECT id FROM instances WHERE dataset_id = :id AND (:instance IS NULL OR instance_id = :instance)"
)
# Their papers, where no other instance has them.
_PAPERS: Final = f"""FROM papers WHERE id IN (SELECT paper FROM instances WHERE id IN ({_GONE}))
    AND NOT EXISTS (SELECT 1 FROM instances WHERE paper = papers.id AND id NOT IN ({_GONE}))"""
_OF_INSTANCE: Final = "instance_id = :instance AND run_id IN (SELECT id FROM runs WHERE dataset_id = :id)"
_OF_DATASET: Final = ("notes", "hypothesis_variants", "hypothesis_drafts")  # tables with both ids
_COUNTS_OF_INSTANCE: Final = {
    "answer": f"retrievals WHERE {_OF_INSTANCE} AND error IS NULL",
    "note": "notes WHERE dataset_id = :id AND instance_id = :instance",
    "marking": "annotation_heads WHERE revision > 0 AND paper = :key || :instance",
}


def dataset_dependents(store: Store, name: str) -> dict[str, int]:
    """How many instances, runs, notes, saved filters, ... go with a dataset, by noun; without zeros."""
    values = _values(store.dataset(name))
    with store.read() as db:
        return counted(db, _COUNTS, values)


def delete_dataset(store: Store, name: str) -> dict[str, int]:
    """Delete a dataset with all that depends on it, in one transaction; returns `dataset_dependents`.

    Stored answers of language models stay: they were paid for, and are found again if the dataset comes back.
    """
    info = store.dataset(name)
    values = _values(info)
    with store.write() as db:
        gone = counted(db, _COUNTS, values)
        papers = _forget_words(db, values)
        for table in ("annotations", "annotation_heads"):
            db.execute(f"DELETE FROM {table} WHERE substr(paper, 1, length(:key)) = :key", values)
        db.execute("DELETE FROM datasets WHERE id = :id", values)
        db.executemany("DELETE FROM papers WHERE id = ?", papers)
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
        papers = _forget_words(db, values)
        for table in ("annotations", "annotation_heads"):
            db.execute(f"DELETE FROM {table} WHERE paper = :key || :instance", values)
        db.execute(f"DELETE FROM retrievals WHERE {_OF_INSTANCE}", values)
        for table in _OF_DATASET:
            db.execute(f"DELETE FROM {table} WHERE dataset_id = :id AND instance_id = :instance", values)
        db.execute(f"DELETE FROM instances WHERE id IN ({_GONE})", values)
        db.executemany("DELETE FROM papers WHERE id = ?", papers)
        count_instances(db, info.id)
    return gone


def rename_instance(store: Store, name: str, instance_id: str, new: str) -> DatasetInfo:
    """Give an instance that was marked by hand another id; what depends on it stays with it.

    Raises
    ------
    StoreError
        If the dataset came from a file, or the id is blank or taken.
    """
    info = _by_hand(store, name, instance_id)
    if not new.strip() or new in store.ids(name):
        problem = f"has an instance {shown(new)}" if new.strip() else "cannot have an instance without an id"
        raise StoreError(f"dataset {shown(name)}", problem, "Choose another id.")
    values = {**_values(info), "instance": instance_id, "new": new}
    with store.write() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")
        for table in ("retrievals", "nearest_sentences"):
            db.execute(f"UPDATE {table} SET instance_id = :new WHERE {_OF_INSTANCE}", values)
        for table in ("instances", *_OF_DATASET):
            of = "dataset_id = :id AND instance_id = :instance"
            db.execute(f"UPDATE {table} SET instance_id = :new WHERE {of}", values)
        for table in ("annotations", "annotation_heads"):
            db.execute(f"UPDATE {table} SET paper = :key || :new WHERE paper = :key || :instance", values)
        ids = "SELECT json_group_array(iif(value = :instance, :new, value)) FROM json_each(instance_ids)"
        of = "dataset_sha256 = (SELECT sha256 FROM datasets WHERE id = :id)"
        db.execute(f"UPDATE trained_models SET instance_ids = ({ids}) WHERE {of}", values)
        count_instances(db, info.id)
    return store.dataset(name)


def _by_hand(store: Store, name: str, instance_id: str) -> DatasetInfo:
    """The dataset of an instance that was marked by hand."""
    info = store.dataset(name)
    if info.source != MARKED_BY_HAND:
        remedy = "It stays as it was read; a dataset can be deleted as a whole."
        raise StoreError(f"dataset {shown(name)}", "came from a file", remedy)
    store.rows(name, [instance_id])  # an error where there is none
    return info


def _forget_words(db: sqlite3.Connection, values: Mapping[str, object]) -> list[tuple[int]]:
    """Take the words of instances that go out of the indices; the ids of the papers that go with them."""
    papers: list[tuple[int]] = db.execute(f"SELECT id {_PAPERS}", values).fetchall()
    (n_left,) = db.execute(f"SELECT count(*) FROM instances WHERE id NOT IN ({_GONE})", values).fetchone()
    if n_left < len(papers):  # quicker to empty the indices, and to read the few that stay again
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
        db.execute(
            "INSERT INTO hypothesis_words (rowid, hypothesis)"
            f" SELECT instance, hypothesis FROM bodies WHERE instance NOT IN ({_GONE})",
            values,
        )
        staying = f"SELECT id, body FROM papers WHERE id NOT IN (SELECT id {_PAPERS})"
        _put_words(db, db.execute(staying, values), "rowid, sentences")
    else:  # they have no texts of their own: they are told what they had
        db.execute(
            "INSERT INTO hypothesis_words (hypothesis_words, rowid, hypothesis)"
            f" SELECT 'delete', instance, hypothesis FROM bodies WHERE instance IN ({_GONE})",
            values,
        )
        going = db.execute(f"SELECT id, body {_PAPERS}", values)
        _put_words(db, going, "paper_words, rowid, sentences", "delete")
    return papers


def _put_words(db: sqlite3.Connection, papers: sqlite3.Cursor, columns: str, *command: str) -> None:
    while batch := papers.fetchmany(_BATCH):
        words = [(*command, paper, packed_paper(*unpacked_paper(body))[1]) for paper, body in batch]
        marks = ",".join([f"({','.join('?' * len(words[0]))})"] * len(words))
        db.execute(f"INSERT INTO paper_words ({columns}) VALUES {marks}", [*chain.from_iterable(words)])


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
    return {"id": info.id, "instance": None, "key": f"instance:{info.sha256}:"}
