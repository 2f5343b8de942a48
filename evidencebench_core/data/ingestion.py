"""Instances into the store: from a dataset file, batch by batch, or one that was marked by hand."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, Literal, cast

import orjson

from evidencebench_core.data.formats import FORMATS, Parser, Source, format_named
from evidencebench_core.data.model import Instance, paper_content
from evidencebench_core.data.primitives import checked_name, compressed, digest, now, process_mark
from evidencebench_core.data.rows import body_blob, gold_blob
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, datasets_in
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.data.upkeep import remove_dataset, remove_unfinished
from evidencebench_core.errors import InstanceError, SettingError, StoreError, StreamError, shown

Progress = Callable[[int, int, int], None]

_BATCH: Final = 64  # instances a transaction
_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".gz", ".zst", ".zstd"})


@dataclass(frozen=True, slots=True)
class IngestResult:
    """``added`` is False if the store had the same content before, maybe under another name."""

    dataset: DatasetInfo
    added: bool
    left_out: Mapping[str, int] = field(
        default_factory=dict
    )  # records of the file that make no instance, by reason


def ingest(
    store: Store,
    path: Path,
    name: str | None = None,
    progress: Progress | None = None,
    source: str | None = None,
    *,
    format: str | None = None,  # noqa: A002 - what people call it
    corpus: Path | None = None,
) -> IngestResult:
    """Read a dataset file into the store, batch by batch: others can write in between, and see it once it is whole.

    Whatever ends it before, nothing of it stays: what a killed ingest leaves is removed by the next one.

    ``name`` is the file's without its endings if left out, ``source`` the file. ``progress`` is called now and then
    with bytes of the file done, bytes in all, and instances done; the bytes run twice, the first time, when the content
    is hashed, with 0 instances. An exception that it raises cancels the ingest. ``format`` is one of `FORMATS`, told by
    the file's keys if left out; ``corpus`` the papers of a format that has them apart, else ``corpus.jsonl`` beside it.

    `DataError` where a file, or something in it, is wrong; `StoreError` where the name is taken.
    """
    path = Path(path)
    name = checked_name(dataset_name(path)[:100] if name is None else name, "dataset")
    with DatasetFile(path) as file:
        format = format_named(format, file)  # noqa: A001
        sha256 = content = file.sha256(progress)
    if FORMATS[format].has_corpus:
        corpus = path.with_name("corpus.jsonl") if corpus is None else Path(corpus)
        if not corpus.is_file():
            problem = f"comes with its papers in another file, and {corpus} is not there"
            raise StreamError(str(path), problem, "Name the corpus with --corpus.")
        with DatasetFile(corpus) as file:
            sha256 += file.sha256()
    elif corpus is not None:
        raise SettingError(
            "corpus", f"is {shown(str(corpus))}", f"The format {format} has none: leave it out."
        )
    if format != "released":
        sha256 = digest([format, sha256])
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
        with DatasetFile(path) as file:
            parsed = Source(file, name, corpus)
            _write_file(store, parsed, FORMATS[format].instances, dataset_id, progress)
            if file.sha256() != content:
                raise StreamError(
                    str(path), "changed while being read", "Wait until it is whole, then try again."
                )
        with store.write() as db:
            return IngestResult(_ready(db, dataset_id), added=True, left_out=dict(parsed.left_out))
    except BaseException as error:
        with suppress(StoreError):  # else it is removed by the next ingest
            remove_dataset(store, dataset_id)
        if not isinstance(error, sqlite3.IntegrityError):
            raise
    # another was quicker with the same name or content
    return ingest(store, path, name, progress, source, format=format, corpus=corpus)


def add_instance(store: Store, name: str, instance: Instance) -> DatasetInfo:
    """Add an instance to a dataset of instances that were marked by hand, which is made where there is none.

    Such a dataset stays the same one for its runs while it grows: its ``sha256`` is no hash of its content.
    """
    name = checked_name(name, "dataset")
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
    insert = "INSERT INTO datasets (name, sha256, source, process) VALUES (?, ?, ?, ?)"
    return cast("int", db.execute(insert, (name, sha256, source, process_mark(os.getpid()))).lastrowid)


def _ready(
    db: sqlite3.Connection, dataset_id: int, timespec: Literal["seconds", "microseconds"] = "seconds"
) -> DatasetInfo:
    """Count a dataset's instances and show it to readers; `sqlite3.IntegrityError` where it is there twice."""
    db.execute(
        "UPDATE datasets SET (n_instances, n_papers, n_result_instances, synthetic, sufficient) = (SELECT count(*),"
        " count(DISTINCT paper_id), count(results_optimal), max(synthetic), max(sufficient)"
        " FROM instances WHERE dataset_id = :id), ingested_at = :now, process = NULL WHERE id = :id",
        {"id": dataset_id, "now": now(timespec)},
    )
    return next(info for info in datasets_in(db) if info.id == dataset_id)


def _write_file(
    store: Store, source: Source, parse: Parser, dataset_id: int, progress: Progress | None
) -> None:
    file, n_instances = source.file, 0
    instances = parse(source)
    try:
        while batch := list(islice(instances, _BATCH)):
            with store.write(durable=False) as db:
                _write(db, dataset_id, n_instances, batch)
            n_instances += len(batch)
            if progress is not None:
                progress(file.bytes_read, file.n_bytes, n_instances)
    except InstanceError as error:
        raise InstanceError(f"{file.path}, {error.place}", error.problem, error.remedy) from error
    if n_instances == 0:
        reasons = ", ".join(f"{n} {reason}" for reason, n in source.left_out.items())
        raise StreamError(str(file.path), f"holds no instance: {reasons}", "Give a file with evidence.")


def _write(db: sqlite3.Connection, dataset_id: int, position: int, instances: Sequence[Instance]) -> None:
    """Write instances inside the transaction that is open; `InstanceError` where one cannot be stored."""
    for number, instance in enumerate(instances, position):
        place = f"instance {shown(instance.id)}"
        try:
            _write_instance(db, dataset_id, number, instance)
        except sqlite3.IntegrityError as error:
            raise InstanceError(place, "is there twice", "Give every instance its own id.") from error
        except (orjson.JSONEncodeError, UnicodeEncodeError) as error:
            remedy = "Remove lone surrogates from its texts, and numbers of more than 64 bits."
            raise InstanceError(place, f"cannot be stored ({error})", remedy) from error


def _write_instance(db: sqlite3.Connection, dataset_id: int, position: int, instance: Instance) -> None:
    evidence = instance.evidence
    values = {
        "dataset_id": dataset_id,
        "position": position,
        "instance_id": instance.id,
        "paper": _paper(db, paper_content(instance.sentences, instance.sentence_types)),
        "paper_id": instance.paper_id,
        "n_sentences": len(instance.sentences),
        "n_aspects": len(evidence.aspects),
        "n_result_aspects": len(evidence.focused("results")),
        "optimal": evidence.optimal,
        "results_optimal": evidence.results_optimal,
        "synthetic": instance.synthetic,
        "sufficient": instance.is_sufficient,
    }
    marks = ", ".join(f":{column}" for column in values)
    row = db.execute(f"INSERT INTO instances ({', '.join(values)}) VALUES ({marks})", values).lastrowid
    body = (row, instance.hypothesis, gold_blob(evidence), body_blob(instance))
    db.execute("INSERT INTO bodies VALUES (?, ?, ?, ?)", body)


def _paper(db: sqlite3.Connection, paper: bytes) -> int:
    """The row of an instance's paper, which is kept once, however many instances share it."""
    key = hashlib.sha256(paper).hexdigest()
    row = db.execute("SELECT id FROM papers WHERE key = ?", (key,)).fetchone()
    if row:
        return int(row[0])
    insert = "INSERT INTO papers (key, body) VALUES (?, ?)"
    return cast("int", db.execute(insert, (key, compressed(paper))).lastrowid)
