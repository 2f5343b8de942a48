"""Connections to the store's SQLite file, one a thread, and what their errors mean."""

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import vocabulary
from evidencebench_core.data.primitives import from_blob
from evidencebench_core.errors import StoreError

SCHEMA: Final = Path(__file__).with_name("schema.sql").read_text("utf-8")
APPLICATION_ID, VERSION = map(int, re.findall(r"^PRAGMA \w+ = (\d+);", SCHEMA, re.M))

# Some builds (Debian's) overwrite what is deleted, and log that: it takes three times as long.
_PRAGMAS: Final = """
    PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000; PRAGMA secure_delete = FAST;
"""
_WAIT: Final = 60.0  # seconds for another writer to finish
_ANOTHER: Final = "Name another store with --store."


class _Connection(sqlite3.Connection):
    def __del__(self) -> None:
        self.close()


class Database:
    """A store's file, created on first use, with one connection per thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._of_thread = threading.local()
        self._writing = threading.Lock()  # threads queue here: SQLite polls for the write lock

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, for queries."""
        with self._errors():
            if not hasattr(self._of_thread, "db"):
                self._of_thread.db = self._opened()
            yield self._of_thread.db

    @contextmanager
    def write(self, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """The same inside a write transaction, committed at the end and rolled back on any exception.

        There is one writer at a time. A commit survives a kill of the process and, if ``durable``, a power cut.
        """
        with self._writing, self.read() as db:
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _opened(self) -> _Connection:
        try:
            if self.path.exists() and not self.path.is_file():
                raise StoreError(str(self.path), "is not a file", _ANOTHER)
            if not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch(mode=0o600)  # SQLite's files beside it are like it
        except OSError as error:
            raise StoreError(str(self.path), f"cannot be made ({error.strerror})", _ANOTHER) from error
        db = sqlite3.connect(self.path, _WAIT, 0, None, check_same_thread=False, factory=_Connection)
        is_new = not self._has_tables(db)
        db.create_function("paper_text", 1, _paper_text, deterministic=True)
        db.executescript(_PRAGMAS)
        if is_new:
            db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
        return db

    def _has_tables(self, db: sqlite3.Connection) -> bool:
        """Whether the file is a store; `StoreError` if it is of another version, or another database."""
        version, application, n_tables = db.execute(
            "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master)"
            " FROM pragma_user_version, pragma_application_id"
        ).fetchone()
        if version == application == n_tables == 0:
            return False
        if application != APPLICATION_ID:
            raise StoreError(str(self.path), "is a database, but not an EvidenceBench store", _ANOTHER)
        if version != VERSION:
            problem = f"is a store of version {version}, and this program reads version {VERSION}"
            raise StoreError(str(self.path), problem, "Name another store, or make a new one.")
        return True

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise SQLite's errors as `StoreError`, except mistakes in a query, which are bugs of ours."""
        try:
            yield
        except sqlite3.Error as error:
            # SQLITE_IOERR_READ is one of SQLITE_IOERR; without a code a text is no UTF-8, or a record is none
            is_damage = isinstance(error, sqlite3.OperationalError)
            name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT" if is_damage else "")
            meanings = vocabulary("errors.toml")["sqlite"].items()
            problem, remedy = next((meaning for code, meaning in meanings if name.startswith(code)), ("", ""))
            if not problem:
                raise
            raise StoreError(str(self.path), f"{problem} ({error})", remedy) from error


def _paper_text(body: bytes) -> str:
    return "\n".join(from_blob(body)[0])
