"""Instances into the store: from a dataset file, batch by batch, or one that was marked by hand."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, starmap
from pathlib import Path
from typing import Any, Final, Literal, cast

import orjson

from evidencebench_core.data.format import check_instance
from evidencebench_core.data.model import SUFFICIENT
from evidencebench_core.data.primitives import checked_name, compressed, now, to_blob
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, datasets_in
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.data.upkeep import remove_dataset, remove_unfinished
from evidencebench_core.errors import InstanceError, StoreError, StreamError, shown

Progress = Callable[[int, int, int], None]

_BATCH: Final = 64  # instances a transaction
_WITHOUT_PAPER: Final = {"paper_as_candidate_pool": None, "sentence_types_in_candidate_pool": None}
_INSERT: Final = """
    INSERT INTO instances (dataset_id, position, instance_id, paper, paper_id, n_sentences, n_aspects,
        n_result_aspects, optimal, results_optimal, synthetic, sufficient)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".gz", ".zst", ".zstd"})


@dataclass(frozen=True, slots=True)
class IngestResult:
    """``added`` is False if the store had the same content before, maybe under another name."""

    dataset: DatasetInfo
    added: bool


def ingest(
    store: Store,
    path: Path,
    name: str | None = None,
    progress: Progress | None = None,
    source: str | None = None,
) -> IngestResult:
    """Read a dataset file into the store, batch by batch: others can write in between, and see it once it is whole.

    Whatever ends it before, nothing of it stays: what a killed ingest leaves is removed by the next one.

    ``name`` is the file's without its endings if left out, ``source`` the file. ``progress`` is called now and then
    with bytes of the file done, bytes in all, and instances done; the bytes run twice, the first time, when the content
    is hashed, with 0 instances. An exception that it raises cancels the ingest.
    """
    path = Path(path)
    name = checked_name(dataset_name(path)[:100] if name is None else name, "dataset")
    with DatasetFile(path) as file:
        sha256 = file.sha256(progress)
    present = store.datasets()
    for info in present:
        if info.sha256 == sha256:
            return IngestResult(info, added=False)
    if any(info.name == name for info in present):
        problem = f"is in {store.path} with other content"
        raise StoreError(f"dataset {shown(name)}", problem, "Choose a name with --name.")
    remove_unfinished(store)
    with store.write() as db:
        dataset_id = _new_dataset(db, name, sha256, source or str(path.resolve()))
    try:
        _write_file(store, path, dataset_id, progress)
        with store.write() as db:
            return IngestResult(_ready(db, dataset_id), added=True)
    except BaseException as error:
        with suppress(StoreError):  # else it is removed by the next ingest
            remove_dataset(store, dataset_id)
        if not isinstance(error, sqlite3.IntegrityError):
            raise
    return ingest(store, path, name, progress, source)  # another was quicker with the same name or content


def add_instance(store: Store, name: str, instance_id: str, raw: Mapping[str, Any]) -> DatasetInfo:
    """Add an instance to a dataset of instances that were marked by hand, which is made where there is none.

    Such a dataset stays the same one for its runs while it grows: its ``sha256`` is no hash of its content.
    """
    name, instance = checked_name(name, "dataset"), _checked(instance_id, raw)
    with store.write() as db:
        info = next((info for info in datasets_in(db) if info.name == name), None)
        if info is not None and info.source != MARKED_BY_HAND:
            raise StoreError(f"dataset {shown(name)}", "came from a file", "Choose another name.")
        if info is None:
            sha256 = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
            dataset_id = _new_dataset(db, name, sha256, MARKED_BY_HAND)
        else:
            dataset_id = info.id
        place = "SELECT coalesce(max(position) + 1, 0) FROM instances WHERE dataset_id = ?"
        position = db.execute(place, (dataset_id,)).fetchone()[0]
        _write(db, dataset_id, position, [instance])
        return _ready(db, dataset_id, "microseconds")


def dataset_name(path: Path) -> str:
    """A file's name without its endings: ``train_set`` for ``train_set.json.gz``."""
    while path.suffix.lower() in _SUFFIXES:
        path = path.with_suffix("")
    return path.name


def _new_dataset(db: sqlite3.Connection, name: str, sha256: str, source: str) -> int:
    """A dataset without instances, which nobody sees before it has a time."""
    insert = "INSERT INTO datasets (name, sha256, source, pid) VALUES (?, ?, ?, ?)"
    return cast("int", db.execute(insert, (name, sha256, source, os.getpid())).lastrowid)


def _ready(
    db: sqlite3.Connection, dataset_id: int, timespec: Literal["seconds", "microseconds"] = "seconds"
) -> DatasetInfo:
    """Count a dataset's instances and show it to readers; `sqlite3.IntegrityError` where it is there twice."""
    db.execute(
        "UPDATE datasets SET (n_instances, n_papers, n_result_instances, synthetic, sufficient) = (SELECT count(*),"
        " count(DISTINCT paper_id), count(results_optimal), max(synthetic), max(sufficient)"
        " FROM instances WHERE dataset_id = :id), ingested_at = :now, pid = NULL WHERE id = :id",
        {"id": dataset_id, "now": now(timespec)},
    )
    return next(info for info in datasets_in(db) if info.id == dataset_id)


def _write_file(store: Store, path: Path, dataset_id: int, progress: Progress | None) -> None:
    n_instances = 0
    with DatasetFile(path) as file:
        instances = starmap(_checked, file.instances())
        while batch := list(islice(instances, _BATCH)):
            with store.write(durable=False) as db:
                _write(db, dataset_id, n_instances, batch)
            n_instances += len(batch)
            if progress is not None:
                progress(file.bytes_read, file.n_bytes, n_instances)


@dataclass(frozen=True, slots=True)
class _Record:
    """An instance as it is written; packed, so that a batch is a few objects."""

    instance_id: str
    hypothesis: str
    paper: bytes  # sentences and their types, as JSON
    body: bytes  # a blob of the rest
    values: tuple[object, ...]  # from `paper_id` on


def _checked(instance_id: str, raw: object) -> _Record:
    """The record of a raw instance; `InstanceError` where it is not of the format."""
    checked = check_instance(instance_id, raw)
    results_optimal = checked.results_evidence_retrieval_at_optimal_evaluation
    values = (
        checked.paper_id,
        len(checked.paper_as_candidate_pool),
        len(checked.aspect_list_ids),
        len(checked.results_aspect_list_ids or ()),
        checked.evidence_retrieval_at_optimal_evaluation.optimal,
        None if results_optimal is None else results_optimal.optimal,
        bool(checked.synthetic),
        checked.construction is not None and checked.construction.gold == SUFFICIENT,
    )
    try:
        instance_id.encode()
        paper = orjson.dumps((checked.paper_as_candidate_pool, checked.sentence_types_in_candidate_pool))
        body = to_blob({**cast("dict[str, Any]", raw), **_WITHOUT_PAPER})
    except (orjson.JSONEncodeError, UnicodeEncodeError) as error:
        remedy = "Remove lone surrogates from its texts, and numbers of more than 64 bits."
        raise InstanceError(shown(instance_id), f"cannot be stored ({error})", remedy) from error
    return _Record(instance_id, checked.hypothesis, paper, body, values)


def _write(db: sqlite3.Connection, dataset_id: int, position: int, records: Sequence[_Record]) -> None:
    """Write checked instances inside the transaction that is open."""
    bodies = []
    for number, record in enumerate(records, position):
        values = (dataset_id, number, record.instance_id, _paper(db, record.paper), *record.values)
        try:
            row = db.execute(_INSERT, values).lastrowid
        except sqlite3.IntegrityError as error:
            remedy = "Give every instance its own id."
            raise StreamError(f"instance {shown(record.instance_id)}", "is there twice", remedy) from error
        bodies.append((row, record.hypothesis, record.body))
    db.executemany("INSERT INTO bodies VALUES (?, ?, ?)", bodies)


def _paper(db: sqlite3.Connection, paper: bytes) -> int:
    """The row of an instance's paper, which is kept once, however many instances share it."""
    key = hashlib.sha256(paper).hexdigest()
    row = db.execute("SELECT id FROM papers WHERE key = ?", (key,)).fetchone()
    if row:
        return int(row[0])
    insert = "INSERT INTO papers (key, body) VALUES (?, ?)"
    return cast("int", db.execute(insert, (key, compressed(paper))).lastrowid)
