"""The tables of a new store, and the check that a file is a store of this version."""

from __future__ import annotations

import re
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Final

from evidencebench_core.errors import StoreError

SCHEMA: Final = files("evidencebench_core.data").joinpath("schema.sql").read_text(encoding="utf-8")
APPLICATION_ID, VERSION = map(
    int, re.findall(r"^PRAGMA (?:application_id|user_version) = (\d+);", SCHEMA, re.M)
)


def has_tables(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a store; `StoreError` if it is of another version, or another database."""
    version, application, n_tables = (
        int(db.execute(query).fetchone()[0])
        for query in ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
    )
    if version == application == n_tables == 0:
        return False
    if application != APPLICATION_ID:
        raise StoreError(str(path), "is a database, but no EvidenceBench store", "Name another store.")
    if version != VERSION:
        problem = f"is a store of version {version}, and this program reads version {VERSION}"
        raise StoreError(str(path), problem, "Name another store, or make a new one.")
    return True


def make_tables(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new store."""
    try:
        db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
    except sqlite3.OperationalError:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if not has_tables(db, path):  # else another process was quicker
            raise
