"""Requests on their way into files, results on their way out of files, and a folder in the place of a server."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.errors import SettingError
from evidencebench_core.llm.request import from_json
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs.engines.batch import BatchEngine
    from evidencebench_core.runs.engines.batch_endpoint import BatchEndpoint

MOST_LINES: Final = 50_000  # a file
MOST_BYTES: Final = 100_000_000


class Asked(NamedTuple):
    """How often a request was asked, in which pass last, and whether its answer was kept, by this process."""

    times: int = 0
    last: int = -1
    kept: bool = False


class Folder:
    """Files for a server that is run offline, such as ``vllm run-batch``."""

    def __init__(self, engine: BatchEngine, run_id: str) -> None:
        self._engine, self._run_id = engine, run_id
        self._n_files = self._n_lines = 0

    def submit(self, path: Path, n_lines: int) -> None:
        self._n_lines += n_lines
        out = self._engine.out
        if out is None:
            self._engine.note = f"{quantity(self._n_lines, 'request')} left: --batch-out DIR writes them"
            return
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:8]
        self._n_files += 1
        name = f"{self._run_id}-{self._n_files:03}-{digest}.jsonl"
        try:
            out.mkdir(parents=True, exist_ok=True)
            shutil.move(path, out / name)
        except OSError as error:
            raise SettingError(
                str(out), f"cannot be written to ({error.strerror})", "Name another."
            ) from error
        self._engine.note = (
            f"{quantity(self._n_lines, 'request')} in {quantity(self._n_files, 'file')} in {out} (the last is {name});"
            " give their results with --batch-in"
        )

    def fetch(self, lines: Lines) -> Iterator[None]:
        yield from ()

    def settle(self) -> None:
        pass


class Lines:
    """Results by the key of their request, and how often a request was asked; on disk, as there may be millions."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE results (key TEXT PRIMARY KEY, line BLOB, source TEXT, used INTEGER) WITHOUT ROWID;"
            "CREATE TABLE asked (key TEXT PRIMARY KEY, times INTEGER, last INTEGER, kept INTEGER) WITHOUT ROWID"
        )

    def close(self) -> None:
        self._db.close()

    def read(self, path: Path, source: str) -> None:
        """Add the results of a file.

        Raises
        ------
        SettingError
            If it cannot be read, or holds other lines than results.
        """
        try:
            with path.open("rb") as file:
                rows = (
                    (_key_of(line, f"{source}, line {number}"), line, source)
                    for number, line in enumerate(file, start=1)
                    if line.strip()
                )
                self._db.execute("BEGIN")
                self._db.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, 0)", rows)
                self._db.execute("COMMIT")
        except OSError as error:
            raise SettingError(source, f"cannot be read ({error.strerror})", "Check its name.") from error

    def take(self, key: str) -> dict[str, Any] | None:
        """The result of a request, once."""
        row = self._db.execute("SELECT line FROM results WHERE key = ? AND NOT used", (key,)).fetchone()
        if row is None:
            return None
        self._db.execute("UPDATE results SET used = 1, line = NULL WHERE key = ?", (key,))
        line: dict[str, Any] = from_json(row[0])
        return line

    def unused(self, source: str) -> tuple[list[str], int]:
        """The keys of a file's results that nobody asked for, and how many results it has."""
        rows = self._db.execute("SELECT key, used FROM results WHERE source = ?", (source,)).fetchall()
        return [key for key, used in rows if not used], len(rows)

    def asked(self, key: str) -> Asked:
        row = self._db.execute("SELECT times, last, kept FROM asked WHERE key = ?", (key,)).fetchone()
        return Asked(*row) if row else Asked()

    def set_asked(self, key: str, asked: Asked) -> None:
        self._db.execute("INSERT OR REPLACE INTO asked VALUES (?, ?, ?, ?)", (key, *asked))


def _key_of(line: bytes, place: str) -> str:
    try:
        result = from_json(line)
    except ValueError:
        result = None
    if not isinstance(result, dict) or not isinstance(result.get("custom_id"), str):
        raise SettingError(place, "is no line of a batch's results", "Give the files that the server wrote.")
    if "response" not in result and "error" not in result:
        raise SettingError(place, "is a request, not a result", "Give the files that the server wrote.")
    key: str = result["custom_id"]
    return key


class Requests:
    """Requests on their way into files of at most 50,000 lines and 100 MB."""

    def __init__(self, folder: Path, carrier: Folder | BatchEndpoint) -> None:
        self._path, self._carrier = folder / "requests.jsonl", carrier
        self._n_lines = self._n_bytes = self._n_total = 0

    def add(self, line: bytes) -> None:
        if self._n_lines and (self._n_lines == MOST_LINES or self._n_bytes + len(line) > MOST_BYTES):
            self._submit()
        with self._path.open("ab") as file:
            file.write(line)
        self._n_lines, self._n_bytes = self._n_lines + 1, self._n_bytes + len(line)

    def finish(self) -> int:
        """Submit what is left; how many lines there were since the last time."""
        if self._n_lines:
            self._submit()
        n_lines, self._n_total = self._n_total, 0
        return n_lines

    def _submit(self) -> None:
        self._carrier.submit(self._path, self._n_lines)
        self._path.unlink(missing_ok=True)
        self._n_total += self._n_lines
        self._n_lines = self._n_bytes = 0
