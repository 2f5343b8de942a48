"""Connections to the store's SQLite file, one a thread, and what their errors mean."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import make_private
from evidencebench_core.data.schema import has_tables, make_tables
from evidencebench_core.errors import DamageError, StoreError

_WAIT: Final = 60.0  # seconds for another writer to finish

_PERMISSION: Final = "Ask for permission, or name another store."
_LATER: Final = "Try again when that has finished."
_BUSY: Final = f"is being written to, for more than {_WAIT:.0f} seconds, by another program"
_FOLDER: Final = "Check that its folder exists and may be written to, or name another store."
_MEANINGS: Final = {  # primary result code of SQLite -> (problem, remedy)
    sqlite3.SQLITE_FULL: ("cannot be written: the disk is full", "Free some space, or name another store."),
    sqlite3.SQLITE_READONLY: ("cannot be written: it is read-only", _PERMISSION),
    sqlite3.SQLITE_PERM: ("cannot be opened: no permission", _PERMISSION),
    sqlite3.SQLITE_AUTH: ("cannot be opened: no permission", _PERMISSION),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened or made there", _FOLDER),
    sqlite3.SQLITE_BUSY: (_BUSY, _LATER),
    sqlite3.SQLITE_LOCKED: ("is being written to", _LATER),
    sqlite3.SQLITE_NOTADB: ("is not a store (no SQLite database)", "Name another store."),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "Check the disk, and whether it is full."),
}
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG)

_RESTORE: Final = "Restore it from a backup, or make a new one from the same files."


class _Connection(sqlite3.Connection):
    def __del__(self) -> None:
        self.close()  # when its thread ends


class Connections:
    """Connections of one store, made when they are first used, with the store itself if there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._of_thread = threading.local()
        self._writing = threading.Lock()  # threads queue here: SQLite polls for the write lock

    def close(self) -> None:
        """Close the connection of this thread; the next use opens another."""
        db = self._of_thread.__dict__.pop("db", None)
        if db is not None:
            db.close()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with self._errors():
            yield self._connection()

    @contextmanager
    def write(self, durable: bool) -> Iterator[sqlite3.Connection]:
        with self._writing, self._errors():
            db = self._connection()
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _connection(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._of_thread, "db", None)
        if db is None:
            db = self._of_thread.db = self._opened()
        return db

    def _opened(self) -> sqlite3.Connection:
        try:
            if self.path.name == ":memory:" or (self.path.exists() and not self.path.is_file()):
                raise StoreError(str(self.path), "is not a file", "Name another store with --store.")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            make_private(self.path)
        except OSError as error:
            problem = f"cannot be made ({error.strerror})"
            raise StoreError(str(self.path), problem, "Name another store with --store.") from error
        db = sqlite3.connect(
            self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False, factory=_Connection
        )
        try:
            exists = has_tables(db, self.path)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA cache_size = -16000")
            # Some builds (Debian's) overwrite what is deleted, and log that: it takes three times as long.
            db.execute("PRAGMA secure_delete = FAST")
            if not exists:
                make_tables(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise SQLite's errors as `StoreError`, but for mistakes in a query: these are ours."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", -1) & 0xFF
            if code == sqlite3.SQLITE_CANTOPEN and self.path.is_file():
                code = sqlite3.SQLITE_READONLY if os.access(self.path, os.R_OK) else sqlite3.SQLITE_PERM
            if code in _DAMAGE or str(error).startswith("Could not decode"):
                raise DamageError(str(self.path), f"is damaged ({error})", _RESTORE) from error
            if code not in _MEANINGS:
                raise
            problem, remedy = _MEANINGS[code]
            raise StoreError(str(self.path), f"{problem} ({error})", remedy) from error
