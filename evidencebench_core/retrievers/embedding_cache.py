"""Sentence embeddings on disk, so that a second look at a paper needs no model.

One SQLite file (WAL, so that processes may share it) in the cache folder. Nothing in it is
precious: a file that cannot be read is made anew, one that cannot be written is done without, both
with one logged warning and never with an exception. Vectors are raw little-endian float32.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EmbeddingCache", "cache_folder"]

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_removing = threading.Lock()
_warned: set[tuple[Path, str]] = set()

_FILE: Final = "embeddings-v1.sqlite"  # another layout gets another name: no migrations
_LARGEST: Final = 8 * 2**30  # bytes; some five million MiniLM vectors
_CHUNK: Final = 500  # texts a SELECT; SQLite's limit of variables was once 999
_SPOILT: Final = (
    "SQLITE_CORRUPT",
    "SQLITE_NOTADB",
    "SQLITE_FORMAT",
    "SQLITE_IOERR_SHORT_READ",
    "SQLITE_ERROR",
)
_DDL: Final = """
CREATE TABLE IF NOT EXISTS encoders (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
    encoder INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (encoder, text));
CREATE TABLE IF NOT EXISTS folders (
    path TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS choices (name TEXT PRIMARY KEY, chosen TEXT NOT NULL);
"""


def cache_folder() -> Path:
    """Where caches go: ``EVIDENCEBENCH_CACHE``, or the user's cache folder. It need not exist."""
    named = os.environ.get("EVIDENCEBENCH_CACHE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("evidencebench", appauthor=False)


class EmbeddingCache:
    """Embeddings by encoder and text; safe for threads and processes, a connection an operation.

    Parameters
    ----------
    folder : Path, optional
        `cache_folder` unless given; made when first needed.

    Notes
    -----
    It stops growing at 8 GiB and says so; deleting the file is always safe.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (cache_folder() if folder is None else folder) / _FILE

    def vectors(self, identity: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Those of the texts that are known, with their vectors.

        Parameters
        ----------
        identity : str
            The encoder: model, weights and everything else that changes a vector.
        texts : iterable of str

        Returns
        -------
        dict of str to array of shape (dimensions,), float32, read-only
        """
        by_key = {_key(text): text for text in texts}
        nothing: list[tuple[bytes, object, int]] = []
        rows = self._tried(lambda connection: _rows(connection, identity, list(by_key)), nothing)
        if not rows:
            return {}
        import numpy as np

        found: dict[str, NDArray[np.float32]] = {}
        for key, blob, dimensions in rows:
            if isinstance(blob, bytes) and len(blob) == 4 * dimensions:
                vector = np.frombuffer(blob, dtype="<f4")
                if np.isfinite(vector).all():
                    found[by_key[key]] = vector
        return found

    def add(self, identity: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep these vectors, all of one length, in one transaction."""
        if not vectors:
            return
        blobs = [(_key(text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
        dimensions = len(blobs[0][1]) // 4
        self._tried(lambda connection: _insert(connection, identity, dimensions, blobs), None)

    def folder_hash(self, folder: Path, fingerprint: str) -> str | None:
        """The content hash remembered for a model folder, if its files' sizes and times are the same."""

        def work(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(
                "SELECT sha256 FROM folders WHERE path = ? AND fingerprint = ?", (str(folder), fingerprint)
            ).fetchone()
            return None if row is None else str(row[0])

        return self._tried(work, None)

    def remember_folder(self, folder: Path, fingerprint: str, sha256: str) -> None:
        """Keep the content hash of a model folder."""

        def work(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute(
                    "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (str(folder), fingerprint, sha256)
                )

        self._tried(work, None)

    def choice(self, name: str) -> str | None:
        """What was remembered under a name: the backend that was found best for a model here."""

        def work(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT chosen FROM choices WHERE name = ?", (name,)).fetchone()
            return None if row is None else str(row[0])

        return self._tried(work, None)

    def remember_choice(self, name: str, chosen: str) -> None:
        """Keep a choice."""

        def work(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("INSERT OR REPLACE INTO choices VALUES (?, ?)", (name, chosen))

        self._tried(work, None)

    def _tried(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """What the work gives; a spoilt file is made anew for it, any other failure does without."""
        try:
            return self._done(work)
        except (sqlite3.Error, OSError) as error:
            if not self._spoilt(error):
                return otherwise
        with _removing:  # whoever waited here may find the file mended, so the first try is repeated
            for mended in (False, True):
                try:
                    return self._done(work)
                except (sqlite3.Error, OSError) as error:
                    if mended or not self._spoilt(error):
                        return otherwise
                    self._warn(_kind(error), f"was spoilt ({error}) and is made anew")
                    self._remove()
        return otherwise

    def _done(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with closing(self._connection()) as connection:
            return work(connection)

    def _spoilt(self, error: Exception) -> bool:
        """Whether the file itself is to blame; if not, say that it is done without."""
        if _kind(error).startswith(_SPOILT):
            return True
        self._warn(_kind(error), f"is not used ({error}); embeddings are computed each time")
        return False

    def _connection(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=30)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        for suffix in ("-wal", "-shm", ""):
            try:
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            except OSError as error:
                self._warn("unlink", f"cannot be removed ({error})")

    def _warn(self, kind: str, what: str) -> None:
        if (self.path, kind) not in _warned:
            _warned.add((self.path, kind))
            _log.warning("embedding cache %s %s", self.path, what)


def _kind(error: Exception) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _prepare(connection: sqlite3.Connection) -> None:
    for patience in (0.01, 0.1, 1.0, None):  # turning WAL on does not wait for a lock by itself
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if patience is None or error.sqlite_errorname != "SQLITE_BUSY":
                raise
            time.sleep(patience)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.executescript(_DDL)


def _rows(
    connection: sqlite3.Connection, identity: str, keys: Sequence[bytes]
) -> list[tuple[bytes, object, int]]:
    rows: list[tuple[bytes, object, int]] = []
    for start in range(0, len(keys), _CHUNK):
        chunk = keys[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows += connection.execute(
            "SELECT text, vector, dimensions FROM vectors JOIN encoders ON encoders.id = vectors.encoder "
            f"WHERE encoders.identity = ? AND vectors.text IN ({marks})",
            (identity, *chunk),
        ).fetchall()
    return rows


def _insert(
    connection: sqlite3.Connection, identity: str, dimensions: int, blobs: list[tuple[bytes, bytes]]
) -> None:
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {_LARGEST // page_size}")
    with connection:
        connection.execute(
            "INSERT OR IGNORE INTO encoders (identity, dimensions) VALUES (?, ?)", (identity, dimensions)
        )
        (encoder,) = connection.execute("SELECT id FROM encoders WHERE identity = ?", (identity,)).fetchone()
        connection.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", [(encoder, key, blob) for key, blob in blobs]
        )
