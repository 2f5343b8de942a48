"""Runs, sets, notes, annotations, constructions and kept papers, written to one file for another store.

The file is JSON lines in gzip. The first says format and version, the last how many lines stand between; each of
those is an object with one key, its kind. Datasets are named by the hash of their content; they are not in it.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import zstandard

from evidencebench_core.data.files import whole_file
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import StoreError
from evidencebench_core.export.portable_constructions import Record
from evidencebench_core.export.portable_wings import rows, wing_records
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.runs.chat_runs import any_run
from evidencebench_core.runs.rows import integers, numbers
from evidencebench_core.runs.spec import settings_from_json
from evidencebench_core.runs.trained import trained_digests

FORMAT: Final = "evidencebench-export"
VERSION: Final = 3  # 1 had no sets and no runs of plain questions, 2 no constructions

_BATCH: Final = 256
_SAID: Final = (
    "run", "answer", "note", "annotation", "paper", "item_set", "answer_set", "construction", "build", "decision",
    "chat_run", "chat_result", "mark", "reply",
)  # fmt: skip


def export_file(
    store: Store,
    path: Path,
    dataset: str | None = None,
    run_ids: Sequence[str] = (),
    *,
    answers: bool = False,
    overwrite: bool = False,
) -> dict[str, int]:
    """Write what can be brought into another store by `import_file`; how many of each, by kind.

    Parameters
    ----------
    store : Store
    path : Path
        Only its owner may read it.
    dataset : str, optional
        Only the runs, notes and annotations on it; else all there are, the sets and the kept papers.
    run_ids : sequence of str
        Only these runs (ids or beginnings of them) with what they cannot be read without, the notes on what they
        missed and the judges' runs about them.
    answers : bool
        Whether the stored answers behind the runs go with them, with the prompts, which quote the papers.

    Raises
    ------
    UnknownNameError
        No such dataset or run.
    StoreError, SettingError
        If the file is there already, or cannot be written.
    """
    path = Path(path)
    if path.is_file() and not overwrite:
        raise StoreError(str(path), "is there already", "Name another file, or replace it with --overwrite.")
    chosen = [any_run(store, one).id for one in run_ids]
    wanted = None if dataset is None else store.dataset(dataset)
    counts: Counter[str] = Counter()
    with store.read() as db, whole_file(path, private=True) as stream:
        db.execute("BEGIN")  # all as it is at one moment
        try:
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as file:
                file.write(_line({"format": FORMAT, "version": VERSION}))
                for kind, record in _records(store, db, wanted, chosen, answers):
                    file.write(_line({kind: record}))
                    counts[kind] += 1
                file.write(_line({"end": counts.total()}))
        finally:
            db.execute("ROLLBACK")
    return {kind: counts[kind] for kind in _SAID if counts[kind]}


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value) + b"\n"


def _records(
    store: Store, db: sqlite3.Connection, of: DatasetInfo | None, chosen: Sequence[str], answers: bool
) -> Iterator[Record]:
    dataset, keys = None if of is None else of.id, set[str]()
    values = {"dataset": dataset, "runs": json.dumps(chosen), "some": bool(chosen)}
    of_dataset = "(:dataset IS NULL OR dataset_id = :dataset)"
    is_chosen = f"(:some AND {{}} IN (SELECT value FROM json_each(:runs)) OR NOT :some AND {of_dataset})"
    runs = rows(
        db,
        "SELECT r.id, d.sha256, r.retriever, r.settings, r.created_at, r.variant, r.name FROM intact_runs AS r"
        f" JOIN intact_datasets AS d ON d.id = dataset_id WHERE {is_chosen.format('r.id')} ORDER BY r.created_at, r.id",
        values,
    )
    for name, sha256, n_instances in db.execute(
        "SELECT name, sha256, n_instances FROM intact_datasets WHERE ingested_at <> '' ORDER BY id"
    ):
        yield "dataset", {"name": name, "sha256": sha256, "n_instances": n_instances}
    for run in runs:
        yield "run", run
        yield from _of_run(db, run, keys)
    notes = rows(
        db,
        "SELECT d.sha256, n.instance_id, n.sentence, n.run_id, n.task, n.aspect_id, n.author, n.flagged, n.cause,"
        " n.tags, n.text, n.created_at FROM intact_notes AS n JOIN intact_datasets AS d ON d.id = dataset_id"
        f" WHERE {is_chosen.format('n.run_id')} ORDER BY n.id",
        values,
    )
    for note in notes:
        yield "note", note | {"tags": json.loads(note["tags"]), "flagged": bool(note["flagged"])}
    if dataset is None and not chosen:
        papers = OwnPapers(store)
        for own in reversed(papers.all()):
            record = {name: getattr(own, name) for name in ("name", "hypothesis", "added_at")}
            pdf = base64.b64encode(papers.pdf(own.id)).decode()
            yield "paper", record | {"number": own.id, "paper": papers.paper(own.id).as_dict(), "pdf": pdf}
    yield from wing_records(db, None if of is None else of.sha256, chosen, keys)
    if answers:
        yield from _replies(db, sorted(keys))
    if chosen:
        return
    marks = rows(
        db,
        "SELECT h.paper, h.annotator, a.hypothesis, a.body, a.created_at FROM intact_annotation_heads AS h"
        " JOIN intact_annotations AS a USING (paper, annotator, revision) WHERE (substr(h.paper, 1, 4) = 'own:' AND"
        " :dataset IS NULL) OR EXISTS (SELECT 1 FROM intact_datasets WHERE ingested_at <> ''"
        " AND (:dataset IS NULL OR id = :dataset) AND substr(h.paper, 1, 74) = 'instance:' || sha256 || ':')"
        " ORDER BY h.paper, h.annotator",
        values,
    )
    for mark in marks:
        yield "annotation", mark | {"body": json.loads(mark["body"])}


def _of_run(db: sqlite3.Connection, run: dict[str, Any], keys: set[str]) -> Iterator[Record]:
    """Training data and answers of a run; ``keys`` gains those of the replies of models behind them."""
    digests = trained_digests(run["id"], settings_from_json(run["settings"]))
    for trained in rows(
        db,
        "SELECT digest, dataset_sha256, instance_ids, paper_ids, trained_at FROM intact_trained_models"
        f" WHERE digest IN ({','.join('?' * len(digests))})",
        digests,
    ):
        yield "trained", trained | {name: json.loads(trained[name]) for name in ("instance_ids", "paper_ids")}
    cursor = db.execute(
        "SELECT task, instance_id, ranking, scores, selection, seconds, details, error, created_at"
        " FROM intact_retrievals WHERE run_id = ?",
        (run["id"],),
    )
    for task, instance_id, ranking, scores, selection, seconds, details, error, created_at in cursor:
        record = {"run": run["id"], "task": task, "instance_id": instance_id, "created_at": created_at}
        if error is not None:
            yield "answer", record | {"error": error}
            continue
        yield (
            "answer",
            record
            | {
                "ranking": integers(ranking or b""),
                "scores": [score if math.isfinite(score) else str(score) for score in numbers(scores or b"")],
                "selection": integers(selection or b""),
                "seconds": seconds,
                "details": details,
            },
        )
        keys |= {call.get("key", "") for call in json.loads(json.loads(details).get("calls", "[]"))}


def _replies(db: sqlite3.Connection, ordered: Sequence[str]) -> Iterator[Record]:
    unpack = zstandard.ZstdDecompressor().decompress
    for start in range(0, len(ordered), _BATCH):
        part = ordered[start : start + _BATCH]
        marks = ",".join("?" * len(part))
        sql = f"SELECT key, model, request, answer, created_at FROM intact_llm_answers WHERE key IN ({marks})"
        for reply in rows(db, sql, part):
            yield "reply", reply | {"request": unpack(reply["request"]).decode()}
