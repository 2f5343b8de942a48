"""Sentence embeddings on disk, so that a second look at a paper needs no model.

Nothing in the file is precious: a damaged one is set aside and begun again, and where it cannot be written some are
kept in memory, both with one logged line and never with an exception.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.files import make_private

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_warned: set[str] = set()
_memory: dict[tuple[Path, bytes, bytes], bytes] = {}  # by file that cannot be written, model and text

_FILE: Final = "embeddings-v2.sqlite"  # another layout gets another name: no migrations
_LARGEST: Final = 8 * 2**30  # bytes; some five million MiniLM vectors
_LARGEST_IN_MEMORY: Final = 64 * 2**20
_CHECK_LENGTH: Final = 8
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ", "SQLITE_ERROR")
_DDL: Final = """CREATE TABLE IF NOT EXISTS vectors (
    model BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text))"""


def cache_folder() -> Path:
    """Where caches go: ``EVIDENCEBENCH_CACHE``, or the user's cache folder. It need not exist."""
    named = os.environ.get("EVIDENCEBENCH_CACHE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("evidencebench", appauthor=False)


class EmbeddingCache:
    """Embeddings by model and text, in one table; safe for threads and processes, and for being killed.

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

    def vectors(self, model: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of those texts that are known, of shape (dimensions,), read-only.

        ``model`` names its weights and everything else that changes a vector.
        """
        query, keys = "SELECT vector FROM vectors WHERE model = ? AND text = ?", _keys(model, texts)

        def read(connection: sqlite3.Connection) -> dict[str, bytes]:
            connection.execute("BEGIN")  # one lock for all
            rows = {text: connection.execute(query, key).fetchone() for text, key in keys.items()}
            return {text: row[0] for text, row in rows.items() if row}

        nothing: dict[str, bytes] = {}
        blobs = {text: _memory[at] for text, key in keys.items() if (at := (self.path, *key)) in _memory}
        return {
            text: np.frombuffer(raw, dtype="<f4")
            for text, blob in (self._attempt(read, nothing) | blobs).items()
            if (raw := _sound_part(blob)) is not None
        }

    def add(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep these vectors, all of them or none."""
        raws = {key: vectors[text].astype("<f4").tobytes() for text, key in _keys(model, vectors).items()}
        rows = [(*key, raw + _check(raw)) for key, raw in raws.items()]
        insert = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)"
        if rows and self._attempt(lambda connection: connection.executemany(insert, rows), None) is None:
            for model_key, text_key, blob in rows:
                if len(_memory) * len(blob) < _LARGEST_IN_MEMORY:
                    _memory[self.path, model_key, text_key] = blob

    def rows_after(self, last: int) -> tuple[int, list[tuple[bytes, bytes, bytes]]]:
        """The rows behind the one of that number, as they stand, and the number of the last one."""

        def work(connection: sqlite3.Connection) -> tuple[int, list[tuple[bytes, bytes, bytes]]]:
            rows = connection.execute(
                "SELECT rowid, model, text, vector FROM vectors WHERE rowid > ? ORDER BY rowid", (last,)
            ).fetchall()
            return rows[-1][0] if rows else last, [row[1:] for row in rows]

        nothing: list[tuple[bytes, bytes, bytes]] = []
        return self._attempt(work, (last, nothing))

    def add_rows(self, rows: Iterable[tuple[bytes, bytes, bytes]]) -> None:
        """Keep rows of another cache."""
        insert = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)"
        self._attempt(lambda connection: connection.executemany(insert, rows), None)

    def _attempt(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """The result of the work; a damaged file is set aside, and the work done again on a new one."""
        for last in (False, True):
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                make_private(self.path)
                with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
                    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
                    connection.execute(f"PRAGMA max_page_count = {_LARGEST // page_size}")
                    connection.execute(_DDL)
                    return work(connection)
            except (sqlite3.Error, OSError) as error:
                if last or not getattr(error, "sqlite_errorname", "").startswith(_DAMAGED):
                    self._warn(f"is not used ({error}); some embeddings are kept in memory instead")
                    return otherwise
                self._set_aside(error)
        return otherwise

    def _set_aside(self, error: Exception) -> None:
        aside = self.path.with_suffix(".damaged")
        self._warn(f"was damaged ({error}); it is now {aside.name}, and a new one begins")
        try:
            self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
            self.path.replace(aside)
        except OSError as failure:
            self._warn(f"cannot be set aside ({failure})")

    def _warn(self, what: str) -> None:
        line = f"embedding cache {self.path} {what}"
        if line not in _warned:
            _warned.add(line)
            _log.warning(line)


def _keys(model: str, texts: Iterable[str]) -> dict[str, tuple[bytes, bytes]]:
    digest = _digest(model)
    return {text: (digest, _digest(text)) for text in texts}


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _check(raw: bytes) -> bytes:
    """A vector's own checksum, which stands behind it."""
    return hashlib.sha256(raw).digest()[:_CHECK_LENGTH]


def _sound_part(blob: object) -> bytes | None:
    """The vector's bytes, unless the disk has changed them."""
    raw = blob[:-_CHECK_LENGTH] if isinstance(blob, bytes) else b""
    return raw if isinstance(blob, bytes) and blob == raw + _check(raw) else None
