"""Datasets that no reader sees: those being read in or deleted, in short transactions that leave others their turn.

A hidden one has no time of ingest, and for its name and its hash a token, claimed by whoever is at work on it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Final

from evidencebench_core.data.claims import claims_on
from evidencebench_core.data.packing import packed_paper, unpacked_paper
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError

_BATCH: Final = 64  # instances a transaction
_ANSWERS: Final = 512
_KEY: Final = "(run_id, task, instance_id)"


@contextmanager
def hidden(store: Store) -> Iterator[str]:
    """A token to hide a dataset behind; whatever is hidden behind it at the end is removed, batch by batch."""
    token, claims = hashlib.sha256(uuid.uuid4().bytes).hexdigest(), claims_on(store.path)
    with store.write():  # one line where the store cannot be written
        claims.take(token)
    try:
        yield token
        _remove(store, token)
    except BaseException:
        with suppress(StoreError):  # else it is removed by the next `remove_left_over`
            _remove(store, token)
        raise
    finally:
        claims.drop(token)


def remove_left_over(store: Store) -> None:
    """Remove what ingests and deletions that were killed have left."""
    with store.read() as db:
        tokens = db.execute("SELECT sha256 FROM datasets WHERE ingested_at = ''").fetchall()
    claims = claims_on(store.path)
    for (token,) in tokens:
        if claims.take(token):
            try:
                _remove(store, token)
            finally:
                claims.drop(token)


def remove_instances(db: sqlite3.Connection, instances: Sequence[tuple[int, int]]) -> None:
    """Remove instances, given with their papers' rows, with their words, and the papers that no other one has."""
    ids, papers = (",".join(map(str, column)) for column in zip(*instances, strict=True))
    db.execute(  # the indices have no texts of their own: they are told what they had
        "INSERT INTO hypothesis_words (hypothesis_words, rowid, hypothesis)"
        f" SELECT 'delete', instance, hypothesis FROM bodies WHERE instance IN ({ids})"
    )
    db.execute(f"DELETE FROM instances WHERE id IN ({ids})")
    going = db.execute(
        f"SELECT id, body FROM papers WHERE id IN ({papers})"
        " AND NOT EXISTS (SELECT 1 FROM instances WHERE paper = papers.id)"
    ).fetchall()
    if going:
        words = [("delete", paper, packed_paper(*unpacked_paper(body))[1]) for paper, body in going]
        db.execute(
            f"INSERT INTO paper_words (paper_words, rowid, sentences) VALUES {','.join(['(?, ?, ?)'] * len(words))}",
            [*chain.from_iterable(words)],
        )
        db.executemany("DELETE FROM papers WHERE id = ?", [(paper,) for paper, _ in going])


def _remove(store: Store, token: str) -> None:
    """Remove the dataset that is hidden behind a token, if there is one, with all that depends on it."""
    with store.read() as db:
        row = db.execute("SELECT id FROM datasets WHERE sha256 = ? AND ingested_at = ''", (token,)).fetchone()
    while row is not None:
        with store.write(durable=False) as db:
            if not _remove_some(db, row[0]):
                db.execute("DELETE FROM datasets WHERE id = ?", row)
                return


def _remove_some(db: sqlite3.Connection, dataset_id: int) -> bool:
    """Whether there was something to remove, of answers first, then of instances."""
    answers = f"""DELETE FROM retrievals WHERE {_KEY} IN (SELECT run_id, task, instance_id FROM retrievals
        WHERE run_id IN (SELECT id FROM runs WHERE dataset_id = ?) LIMIT {_ANSWERS})"""
    if db.execute(answers, (dataset_id,)).rowcount:
        return True
    some = f"SELECT id, paper FROM instances WHERE dataset_id = ? ORDER BY position LIMIT {_BATCH}"
    instances = db.execute(some, (dataset_id,)).fetchall()
    if instances:
        remove_instances(db, instances)
    return bool(instances)
