"""Connections to the store's SQLite file, shared by threads, and what their errors mean."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import make_private
from evidencebench_core.data.integrity import (
    Connection,
    LostRowsError,
    columns_of,
    damage,
    place_of,
    schema_checksum,
)
from evidencebench_core.data.schema import is_current, migrate
from evidencebench_core.errors import StoreError

_WAIT: Final = 60.0  # seconds for another writer to finish
_IDLE: Final = 4  # connections kept open

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
_UNREADABLE: Final = (
    "Could not decode",
    "user-defined function",
)  # beginnings of messages: text that is no UTF-8
_UNWRITABLE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR}


class Connections:
    """Lends connections of one store; made and brought up to date when first asked for.

    Reading writes nothing beside the store where that cannot be done: read-only places, a full disk.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # Apart: to change query_only on a connection makes SQLite forget all that it has prepared.
        self._readers: list[Connection] = []
        self._writers: list[Connection] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # among threads first: SQLite waits for a writer by naps
        self._ready = False
        self._unchecked = False  # whether there may be rows without a checksum
        self._wal = path.with_name(f"{path.name}-wal")
        self._as_of: tuple[int, int, int] | None = (
            None  # the `_state` that readers rely on, where SQLite cannot watch for changes
        )
        self._finalizer = weakref.finalize(self, _close_all, self._readers, self._writers)

    def close(self) -> None:
        """Close what is open and idle; the next use opens again."""
        with self._lock:
            _close_all(self._readers, self._writers)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._connection(self._readers) as db:
            yield db

    @contextmanager
    def write(self, durable: bool) -> Iterator[Connection]:
        ours = self._writing.acquire(timeout=_WAIT)  # after that SQLite says who is in the way
        try:
            with self._connection(self._writers) as db:
                db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")  # after an error the connection is closed, which rolls back
        finally:
            if ours:
                self._writing.release()

    @contextmanager
    def _connection(self, idle: list[Connection]) -> Iterator[Connection]:
        db: Connection | None = None
        try:
            with self._lock:
                if not self._ready:
                    self._make_ready()
                    self._ready = True
                if self._as_of is not None and self._as_of != self._state():
                    _close_all(self._readers)
                    self._as_of = None
                db = idle.pop() if idle else self._new(read_only=idle is self._readers)
            try:
                yield db
            except BaseException:
                db.close()
                raise
            with self._lock:
                (idle.append if len(idle) < _IDLE else sqlite3.Connection.close)(db)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            meaning = self._meaning(error, db)
            if meaning is None:
                raise  # a mistake in a query: ours, not the user's
            raise meaning from error

    def _meaning(self, error: Exception, db: Connection | None) -> StoreError | None:
        code = _code(error)
        if code == sqlite3.SQLITE_CANTOPEN and self.path.is_file():
            code = sqlite3.SQLITE_READONLY if os.access(self.path, os.R_OK) else sqlite3.SQLITE_PERM
        if code in _MEANINGS:
            problem, remedy = _MEANINGS[code]
            return StoreError(str(self.path), f"{problem} ({error})", remedy)
        if isinstance(error, UnicodeDecodeError):
            return damage(self.path, "is damaged", "(there is text that is no UTF-8)")
        if isinstance(error, LostRowsError):
            return damage(self.path, str(error))
        if db is not None and db.damaged is not None:
            return self._row_damage(*db.damaged)
        if not self._ready or code in _DAMAGE or str(error).startswith(_UNREADABLE):
            return damage(self.path, "is damaged", f"({error})")
        return None

    def _row_damage(self, table: str, values: tuple[object, ...]) -> StoreError:
        with closing(self._new(read_only=True)) as db:
            row = dict(zip(columns_of(db, table)[0], values, strict=False))
            return damage(self.path, place_of(db, table, row), "is damaged")

    def _new(self, *, read_only: bool = False) -> Connection:
        try:
            return self._opened(self.path, read_only)
        except sqlite3.Error as error:
            there = self.path.is_file() and os.access(self.path, os.R_OK)
            if not (read_only and there and _code(error) in _UNWRITABLE):
                raise
            self._as_of = self._state()
            if self._as_of[0]:  # changes that only SQLite can bring in, with a file of its own
                problem = f"cannot be read here: {self._wal.name} holds changes, and nothing can be written beside it"
                raise StoreError(
                    str(self.path), problem, "Copy both to a folder that can be written to."
                ) from error
            return self._opened(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", read_only)

    def _opened(self, path: Path | str, read_only: bool) -> Connection:
        uri = isinstance(path, str)
        db = sqlite3.connect(
            path, timeout=_WAIT, isolation_level=None, check_same_thread=False, factory=Connection, uri=uri
        )
        try:
            db.unchecked = self._unchecked
            db.add_functions()
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA cache_size = -16000")  # reads the store: SQLite makes the files beside it
            # Some builds (Debian's) overwrite what is deleted, and log that: it takes three times as long.
            db.execute("PRAGMA secure_delete = FAST")
            if read_only:
                db.execute("PRAGMA temp_store = MEMORY")
                db.execute("PRAGMA query_only = ON")
        except BaseException:
            db.close()
            raise
        return db

    def _state(self) -> tuple[int, int, int]:
        """Differs once somebody has written to the store."""
        n_changed = self._wal.stat().st_size if self._wal.exists() else 0
        status = self.path.stat()
        return n_changed, status.st_size, status.st_mtime_ns

    def _make_ready(self) -> None:
        try:
            if self.path.name == ":memory:" or (self.path.exists() and not self.path.is_file()):
                raise StoreError(str(self.path), "is not a file", "Name another store with --store.")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            make_private(self.path)
        except OSError as error:
            problem = f"cannot be made ({error.strerror})"
            raise StoreError(str(self.path), problem, "Name another store with --store.") from error
        with closing(self._new(read_only=True)) as db:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            current = is_current(db, self.path)
        if not current:
            self._bring_up_to_date(version)
        with closing(self._new(read_only=True)) as db:
            facts = dict(db.execute("SELECT name, value FROM integrity"))
            self._unchecked = facts.get("unchecked") == 1
            if facts.get("schema") != schema_checksum(db):
                raise damage(self.path, "is damaged", "(its tables are not as they were made)")

    def _bring_up_to_date(self, version: int) -> None:
        try:
            with closing(self._new()) as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("BEGIN IMMEDIATE")
                migrate(db, self.path)
                db.execute("COMMIT")
        except sqlite3.Error as error:
            if not version or _code(error) not in _UNWRITABLE:
                raise
            problem = f"is of version {version} and cannot be brought up to date: it cannot be written"
            remedy = "Copy it to a folder that can be written to, and name the copy."
            raise StoreError(str(self.path), problem, remedy) from error


def _code(error: Exception) -> int:
    """The primary result code of an error of SQLite."""
    return getattr(error, "sqlite_errorcode", -1) & 0xFF


def _close_all(*pools: list[Connection]) -> None:
    for idle in pools:
        while idle:
            idle.pop().close()
