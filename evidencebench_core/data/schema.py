"""The order of the migrations that made the store's tables, and the check that a file is a store of ours at all.

A paper is kept once, however many instances share it; the index of its words is kept beside it.
What queries look at (``instances``) is apart from what only reading an instance needs
(``bodies``), so that a filter over 100,000 instances touches a few megabytes.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evidencebench_core.data.integrity import add_checks, drop_checks
from evidencebench_core.data.tables import asking, benchmark, checksums, people, wings
from evidencebench_core.errors import StoreError

APPLICATION_ID: Final = 0x45764278  # "EvBx"

_MIGRATIONS: Final[tuple[tuple[str | Callable[[sqlite3.Connection], None], ...], ...]] = (
    (
        "CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)",
        *benchmark.DATASETS,
        *benchmark.RUNS,
    ),
    benchmark.ANALYSES,
    asking.ANSWERS,
    benchmark.OUTCOMES,
    people.DRAFTS,
    people.OWN_PAPERS,
    benchmark.TRAINED,
    asking.BATCHES,
    benchmark.COMPACT,
    benchmark.NAMES,
    benchmark.PLACE_NOTES,
    people.PDFS,
    benchmark.NEAREST,
    benchmark.MARKED,
    checksums.CHECKSUMS,
    benchmark.SORTED,
    asking.CHAT_RUNS,
    wings.ITEM_SETS,
    benchmark.SUFFICIENT,
    wings.ITEM_DRAFTS,
    wings.ANSWER_SETS,
    wings.CONSTRUCTIONS,
)

VERSION: Final = len(_MIGRATIONS)


def is_current(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the store has all tables of this version; an error if it is a newer one, or no store of ours."""
    version, application, n_tables = (
        int(db.execute(query).fetchone()[0])
        for query in ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
    )
    if version == application == n_tables == 0:
        return False
    if application != APPLICATION_ID:
        raise StoreError(str(path), "is a database, but no EvidenceBench store", "Name another store.")
    if version > VERSION:
        problem = f"is a store of version {version}, and this program knows versions up to {VERSION}"
        raise StoreError(str(path), problem, "Update evidencebench-explorer, or name another store.")
    return version == VERSION


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring a store to this version, inside the write transaction that is open."""
    if is_current(db, path):  # another process was quicker
        return
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    before = drop_checks(db)
    for number, statements in enumerate(_MIGRATIONS[version:], start=version + 1):
        for statement in statements:
            if isinstance(statement, str):
                db.execute(statement)
            else:
                statement(db)
        db.execute("INSERT INTO migrations VALUES (?, ?)", (number, now))
    add_checks(db, before)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
