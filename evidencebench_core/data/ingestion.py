"""Instances into the store: from a dataset file, batch by batch, or one that was marked by hand."""

import hashlib
import os
import re
import sqlite3
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, cast

import orjson

from evidencebench_core.data.formats import FORMATS, Format, Source, format_named
from evidencebench_core.data.model import Instance, paper_content
from evidencebench_core.data.primitives import checked_name, digest, now, process_mark, to_blob
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, datasets_in, instance_blobs
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.data.upkeep import remove_dataset, remove_unfinished
from evidencebench_core.errors import DataError, InstanceError, SettingError, StoreError, shown

Progress = Callable[[int, int, int], object]

_BATCH: Final = 64  # instances a transaction
_ENDINGS: Final = re.compile(r"(?<=.)(?:\.(?:json|jsonl|ndjson|csv|tsv|gz|zst|zstd))+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IngestResult:
    """``added`` is False if the store already had the same content, under any name."""

    dataset: DatasetInfo
    added: bool
    left_out: Mapping[str, int] = field(default_factory=dict)  # records that make no instance, by reason


def ingest(
    store: Store,
    path: Path,
    name: str | None = None,
    progress: Progress = lambda *_: None,
    source: str | None = None,
    *,
    format: str | None = None,  # noqa: A002 - what people call it
    corpus: Path | None = None,
) -> IngestResult:
    """Read a dataset file into the store in batches: others can write in between, and see it once it is complete.

    If it fails, nothing of it stays; what a killed ingest leaves behind is removed by the next one. By default ``name``
    is that of the file without its endings, ``source`` the file, ``format`` recognised by the file's keys, and
    ``corpus`` (for formats that keep papers apart) ``corpus.jsonl`` beside it. ``progress`` receives bytes read, bytes
    in all and instances done; the file is read twice, the first time with 0 instances. An exception in it cancels.
    """
    path = Path(path)
    name = checked_name(_ENDINGS.sub("", path.name)[:100] if name is None else name, "dataset")
    with DatasetFile(path) as file:
        format = format_named(format, file)  # noqa: A001
        sha256 = content = file.sha256(progress)
    if FORMATS[format].has_corpus:
        corpus = Path(corpus or path.with_name("corpus.jsonl"))
        if not corpus.is_file():
            problem = f"comes with its papers in another file, and {corpus} is not there"
            raise DataError(str(path), problem, "Name the corpus with --corpus.")
        with DatasetFile(corpus) as file:
            sha256 += file.sha256()
    elif corpus is not None:
        remedy = f"The format {format} has none: leave it out."
        raise SettingError("corpus", f"cannot be {shown(str(corpus))}", remedy)
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
            _write_file(store, parsed, FORMATS[format], dataset_id, progress)
            if file.sha256() != content:
                remedy = "Wait until it is whole, then try again."
                raise DataError(str(path), "changed while being read", remedy)
        with store.write() as db:
            return IngestResult(_ready(db, dataset_id), added=True, left_out=dict(parsed.left_out))
    except BaseException as error:
        with suppress(StoreError):  # the next ingest removes what is left
            remove_dataset(store, dataset_id)
        if not isinstance(error, sqlite3.IntegrityError):
            raise
    # another was quicker with the same name or content
    return ingest(store, path, name, progress, source, format=format, corpus=corpus)


def add_instance(store: Store, name: str, instance: Instance) -> DatasetInfo:
    """Add an instance to a dataset that is marked by hand; the first one creates it, later ones keep its identity."""
    name = checked_name(name, "dataset")
    with store.write() as db:
        info = next((info for info in datasets_in(db) if info.name == name), None)
        if info is not None and info.source != MARKED_BY_HAND:
            raise StoreError(f"dataset {shown(name)}", "came from a file", "Choose another name.")
        sha256 = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
        dataset_id = info.id if info else _new_dataset(db, name, sha256, MARKED_BY_HAND)
        _write(db, dataset_id, instance)
        return _ready(db, dataset_id)


def _new_dataset(db: sqlite3.Connection, name: str, sha256: str, source: str) -> int:
    insert = "INSERT INTO datasets (name, sha256, source, process) VALUES (?, ?, ?, ?)"
    return cast("int", db.execute(insert, (name, sha256, source, process_mark(os.getpid()))).lastrowid)


def _ready(db: sqlite3.Connection, dataset_id: int) -> DatasetInfo:
    """Make a dataset visible to readers; `sqlite3.IntegrityError` if it exists already."""
    db.execute("UPDATE datasets SET ingested_at = ? WHERE id = ?", (now("microseconds"), dataset_id))
    return next(info for info in datasets_in(db) if info.id == dataset_id)


def _write_file(store: Store, source: Source, format: Format, dataset_id: int, progress: Progress) -> None:  # noqa: A002
    file, n_instances = source.file, 0
    instances = format.instances(source)
    try:
        while batch := list(islice(instances, _BATCH)):
            with store.write(durable=False) as db:
                for instance in batch:
                    _write(db, dataset_id, instance)
            n_instances += len(batch)
            progress(file.bytes_read, file.n_bytes, n_instances)
    except InstanceError as error:
        raise InstanceError(f"{file.path}, {error.place}", error.problem, error.remedy) from error
    except (orjson.JSONEncodeError, RecursionError) as error:
        place = f"{file.path}, after {n_instances} instances"
        raise DataError(place, f"is nested too deeply ({error})", "Make it flatter.") from error
    if n_instances == 0:
        reasons = ", ".join(f"{n} {reason}" for reason, n in source.left_out.items())
        raise DataError(str(file.path), f"holds no instance: {reasons}", "Give a file with evidence.")


def _write(db: sqlite3.Connection, dataset_id: int, instance: Instance) -> None:
    """Insert an instance in the open transaction; `InstanceError` if it cannot be stored."""
    place, evidence = f"instance {shown(instance.id)}", instance.evidence
    try:
        paper = paper_content(instance.sentences, instance.sentence_types)
        key = hashlib.sha256(paper).hexdigest()
        is_known = db.execute("SELECT 1 FROM papers WHERE key = ?", (key,)).fetchone()
        gold, body = instance_blobs(instance)
        values = {
            "dataset_id": dataset_id,
            "id": instance.id,
            "hypothesis": instance.hypothesis,
            "paper_id": instance.paper_id,
            "n_sentences": evidence.n_sentences,
            "n_aspects": len(evidence.aspects),
            "n_result_aspects": len(evidence.focused("results")),
            "optimal": evidence.optimal,
            "results_optimal": evidence.results_optimal,
            "synthetic": instance.synthetic,
            "sufficient": instance.is_sufficient,
            "gold": gold,
            "body": body,
            "paper": None if is_known else to_blob(paper),
            "paper_key": key,
        }
        marks = ", ".join(f":{column}" for column in values)
        db.execute(f"INSERT INTO instance_rows ({', '.join(values)}) VALUES ({marks})", values)
    except sqlite3.IntegrityError as error:
        raise InstanceError(place, "is there twice", "Give every instance its own id.") from error
    except (orjson.JSONEncodeError, UnicodeEncodeError) as error:
        remedy = "Remove lone surrogates, numbers of more than 64 bits and what is nested more than 200 deep."
        raise InstanceError(place, f"cannot be stored ({error})", remedy) from error
