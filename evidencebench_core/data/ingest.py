"""Dataset file -> store, in short transactions that leave others their turn; nobody sees it before it is whole."""

from __future__ import annotations

import datetime
import hashlib
import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from evidencebench_core.data.check import check_instance
from evidencebench_core.data.hidden import hidden, remove_left_over
from evidencebench_core.data.model import SUFFICIENT
from evidencebench_core.data.packing import packed_evidence, packed_instance, packed_paper, zstd_frames
from evidencebench_core.data.source import Source, change_error
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, datasets_in
from evidencebench_core.data.stream import instances_in
from evidencebench_core.errors import StoreError, StreamError, shown

Progress = Callable[[int, int, int], None]

_BATCH: Final = 64
_ENDS: Final = 10  # sentences at either end of a paper that count as its ends
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

    Parameters
    ----------
    store : Store
    path : Path
        What `iter_raw` reads.
    name : str, optional
        What the dataset is called; the file's name without its endings if left out.
    progress : callable, optional
        Called now and then with bytes of the file done, bytes in all, and instances done. If the
        file may be one that the store has, its content is hashed first, and the bytes run twice,
        the first time with 0 instances. An exception that it raises cancels the ingest.
    source : str, optional
        Where the dataset says that it is from; the file if left out.

    Raises
    ------
    StreamError, InstanceError
        If the file, or an instance in it, is not as it should be, or it changed meanwhile.
    StoreError
        If the name is taken by other content, or the store cannot be written.
    """
    path = Path(path)
    name = check_dataset_name(dataset_name(path) if name is None else name)
    known = store.datasets()
    sha256 = _sha256_if_known(path, known, progress)
    for info in known:
        if info.sha256 == sha256:
            return IngestResult(info, added=False)
    _check_free(store, name, known)
    remove_left_over(store)
    with hidden(store) as token:
        figures = _write_file(store, path, token, sha256, progress)
        figures["source"] = source or str(path.resolve())
        with store.write() as db:
            known = datasets_in(db)
            for info in known:
                if info.sha256 == figures["sha256"]:  # another was quicker
                    return IngestResult(info, added=False)
            _check_free(store, name, known)
            db.execute(
                "UPDATE datasets SET name = :name, sha256 = :sha256, n_bytes = :n_bytes, n_instances = :n_instances,"
                " n_papers = :n_papers, n_result_instances = :n_results, synthetic = :synthetic,"
                " sufficient = :sufficient, source = :source, ingested_at = :now WHERE sha256 = :token",
                {**figures, "name": name, "token": token, "now": _now("seconds")},
            )
            return IngestResult(datasets_in(db)[-1], added=True)


def _check_free(store: Store, name: str, known: Sequence[DatasetInfo]) -> None:
    if any(info.name == name for info in known):
        problem = f"is in {store.path} with other content"
        raise StoreError(f"dataset {shown(name)}", problem, "Choose a name with --name.")


def add_instance(store: Store, name: str, instance_id: str, raw: Mapping[str, Any]) -> DatasetInfo:
    """Add an instance to a dataset of instances that were marked by hand, which is made where there is none.

    Such a dataset stays the same one for its runs while it grows: its ``sha256`` is no hash of its content.

    Raises
    ------
    InstanceError
        If the instance is not as it should be.
    StoreError
        If the dataset came from a file, or has an instance of this id.
    """
    name, record = check_dataset_name(name), _record(instance_id, raw)
    with store.write() as db:
        info = next((info for info in datasets_in(db) if info.name == name), None)
        if info is not None and info.source != MARKED_BY_HAND:
            raise StoreError(f"dataset {shown(name)}", "came from a file", "Choose another name.")
        if info is None:
            sha256 = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
            dataset_id = _new_dataset(db, name, sha256, MARKED_BY_HAND)
        else:
            dataset_id = info.id
            taken = "SELECT 1 FROM instances WHERE dataset_id = ? AND instance_id = ?"
            if db.execute(taken, (dataset_id, instance_id)).fetchone():
                problem = f"has an instance {shown(instance_id)}"
                remedy = "Choose another id, or delete that one on the page Dataset."
                raise StoreError(f"dataset {shown(name)}", problem, remedy)
        place = "SELECT coalesce(max(position) + 1, 0) FROM instances WHERE dataset_id = ?"
        position = db.execute(place, (dataset_id,)).fetchone()[0]
        _write(db, dataset_id, position, [record], Path(name))
        count_instances(db, dataset_id, record.synthetic, record.sufficient)
        return next(info for info in datasets_in(db) if info.id == dataset_id)


def count_instances(
    db: sqlite3.Connection, dataset_id: int, synthetic: bool = False, sufficient: bool = False
) -> None:
    """Bring the figures of a dataset up to date that an instance was added to, or deleted from."""
    of_dataset = "FROM instances WHERE dataset_id = :id"
    db.execute(
        f"UPDATE datasets SET n_instances = (SELECT count(*) {of_dataset}),"
        f" n_papers = (SELECT count(DISTINCT paper_id) {of_dataset}),"
        f" n_result_instances = (SELECT count(*) {of_dataset} AND n_result_aspects > 0),"
        " synthetic = synthetic OR :synthetic, sufficient = sufficient OR :sufficient, ingested_at = :now"
        " WHERE id = :id",
        {
            "id": dataset_id,
            "synthetic": synthetic,
            "sufficient": sufficient,
            "now": _now("microseconds"),
        },
    )


def check_dataset_name(name: str) -> str:
    """The name; ``StoreError`` for a blank one."""
    if not name.strip():
        raise StoreError("the dataset's name", "is blank", "Give it one.")
    return name


def dataset_name(path: Path) -> str:
    """A file's name without its endings: ``train_set`` for ``train_set.json.gz``."""
    while path.suffix.lower() in _SUFFIXES:
        path = path.with_suffix("")
    return path.name


def _sha256_if_known(path: Path, known: Sequence[DatasetInfo], progress: Progress | None) -> str | None:
    """The content's hash, but ``None`` where its size already tells that the store does not have it."""
    with Source(path) as source:
        sizes = {info.n_bytes for info in known}
        if not sizes or not (source.compressed or source.n_bytes in sizes):
            return None
        for number, _ in enumerate(source):
            if progress is not None and number % 64 == 0:
                progress(source.bytes_read, source.n_bytes, 0)
        source.check_unchanged()
        return source.sha256


def _write_file(
    store: Store, path: Path, token: str, sha256: str | None, progress: Progress | None
) -> dict[str, Any]:
    """Write a file's instances into a hidden dataset; what its row is to say."""
    with store.write() as db:
        dataset_id = _new_dataset(db, token, token, str(path.resolve()))
    with Source(path) as source:
        n_instances = n_results = synthetic = sufficient = 0
        records = starmap(_record, instances_in(source))
        while batch := list(islice(records, _BATCH)):
            with store.write(durable=False) as db:
                _write(db, dataset_id, n_instances, batch, path)
            n_instances += len(batch)
            n_results += sum(record.has_results for record in batch)
            synthetic |= any(record.synthetic for record in batch)
            sufficient |= any(record.sufficient for record in batch)
            if progress is not None and len(batch) == _BATCH:
                progress(source.bytes_read, source.n_bytes, n_instances)
        source.check_unchanged()
        if sha256 is not None and source.sha256 != sha256:
            raise change_error(path)
        if progress is not None:
            progress(source.n_bytes, source.n_bytes, n_instances)
        figures = {"sha256": source.sha256, "n_bytes": source.n_content, "n_instances": n_instances}
    with store.read() as db:
        count = "SELECT count(DISTINCT paper_id) FROM instances WHERE dataset_id = ?"
        (n_papers,) = db.execute(count, (dataset_id,)).fetchone()
    return figures | {
        "n_papers": n_papers,
        "n_results": n_results,
        "synthetic": synthetic,
        "sufficient": sufficient,
    }


def _new_dataset(db: sqlite3.Connection, name: str, sha256: str, source: str) -> int:
    """A row of no instances, which nobody sees before it has a time."""
    inserted = db.execute(
        "INSERT INTO datasets (name, sha256, n_bytes, n_instances, n_papers, n_result_instances, synthetic,"
        " source, ingested_at) VALUES (?, ?, 0, 0, 0, 0, 0, ?, '')",
        (name, sha256, source),
    )
    return cast("int", inserted.lastrowid)


def _now(timespec: str) -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec=timespec)


class _Record(NamedTuple):
    """An instance ready to be written."""

    columns: tuple[str | int | float | None, ...]  # instance_id and what follows it in the table of instances
    hypothesis: str
    body: bytes
    evidence: tuple[bytes, bytes | None, bytes]
    paper_key: bytes
    paper_body: bytes
    paper_words: bytes
    has_results: bool
    synthetic: bool
    sufficient: bool


def _record(instance_id: str, value: object) -> _Record:
    inverse_follows = check_instance(instance_id, value)
    raw = cast("dict[str, Any]", value)
    sentences = raw["paper_as_candidate_pool"]
    n_results = len(raw["results_aspect_list_ids"] or ())
    columns = (
        instance_id,
        raw["paper_id"],
        len(sentences),
        len(raw["aspect_list_ids"]),
        n_results,
        raw["evidence_retrieval_at_optimal_evaluation"]["optimal"],
        raw["results_evidence_retrieval_at_optimal_evaluation"]["optimal"] if n_results else None,
        _ends_coverage(raw["aspect2sentence_indices"], len(sentences)),
    )
    body = packed_instance(instance_id, raw, inverse_follows)
    paper_body, paper_words = packed_paper(sentences, raw["sentence_types_in_candidate_pool"])
    key = hashlib.sha256(paper_body).digest()
    synthetic = raw.get("synthetic") is True
    return _Record(
        columns,
        raw["hypothesis"],
        body,
        packed_evidence(raw),
        key,
        paper_body,
        paper_words,
        n_results > 0,
        synthetic,
        (raw.get("construction") or {}).get("gold") == SUFFICIENT,
    )


def _ends_coverage(covering: Mapping[str, Sequence[int]], n_sentences: int) -> float:
    """Share of the aspects that the first and last 10 sentences of the paper cover."""
    last = n_sentences - _ENDS
    covered = [
        bool(indices) and (min(indices) < _ENDS or max(indices) >= last) for indices in covering.values()
    ]
    return sum(covered) / len(covered)


def _write(
    db: sqlite3.Connection, dataset_id: int, position: int, records: Sequence[_Record], path: Path
) -> None:
    """Write a batch inside the transaction that is open; a paper that is there already is not written again."""
    papers = {record.paper_key: record for record in records}
    marks = ",".join("?" * len(papers))
    row_of = dict(db.execute(f"SELECT key, id FROM papers WHERE key IN ({marks})", list(papers)))
    new = [record for key, record in papers.items() if key not in row_of]
    row_of |= {record.paper_key: row for row, record in enumerate(new, _free_id(db, "papers"))}
    rows = [(row_of[record.paper_key], record) for record in new]
    bodies = zstd_frames([record.paper_body for record in new])
    db.executemany(
        "INSERT INTO papers (id, key, body) VALUES (?, ?, ?)",
        [(row, record.paper_key, body) for (row, record), body in zip(rows, bodies, strict=True)],
    )
    if rows:  # in one statement: FTS5 flushes after each, and keeps 32 MB where there are only single rows
        db.execute(
            f"INSERT INTO paper_words (rowid, sentences) VALUES {','.join(['(?, ?)'] * len(rows))}",
            [value for row, record in rows for value in (row, record.paper_words)],
        )
    numbered = list(enumerate(records, _free_id(db, "instances")))
    for number, (row, record) in enumerate(numbered, position):
        try:
            db.execute(
                "INSERT INTO instances (id, dataset_id, position, paper, instance_id, paper_id, n_sentences,"
                " n_aspects, n_result_aspects, optimal, results_optimal, ends_coverage)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (row, dataset_id, number, row_of[record.paper_key], *record.columns),
            )
        except sqlite3.IntegrityError as error:
            problem = f"has the instance id {shown(record.columns[0])} twice"
            raise StreamError(str(path), problem, "Give every instance its own id.") from error
    bodies = zstd_frames([record.body for record in records])
    db.executemany(
        "INSERT INTO bodies (instance, hypothesis, body) VALUES (?, ?, ?)",
        [(row, record.hypothesis, body) for (row, record), body in zip(numbered, bodies, strict=True)],
    )
    _write_evidence(db, [(row, *record.evidence) for row, record in numbered])
    db.executemany(
        "INSERT INTO hypothesis_words (rowid, hypothesis) VALUES (?, ?)",
        [(row, record.hypothesis) for row, record in numbered],
    )


def _write_evidence(db: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    db.executemany("INSERT INTO evidence (instance, aspects, texts, covering) VALUES (?, ?, ?, ?)", rows)


def _free_id(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])
