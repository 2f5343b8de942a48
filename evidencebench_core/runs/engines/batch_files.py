"""Requests on their way into files, and results on their way out of files."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from evidencebench_core.errors import SettingError
from evidencebench_core.llm.request import from_json

MOST_LINES: Final = 50_000  # a file
MOST_BYTES: Final = 100_000_000
_ADD: Final = """INSERT INTO results VALUES (?, ?, ?, 0, ?) ON CONFLICT (key) DO UPDATE SET line = excluded.line,
    source = excluded.source, used = 0, is_answer = excluded.is_answer
    WHERE used OR excluded.is_answer > results.is_answer"""


class Asked(NamedTuple):
    """How often a request was asked, in which pass last, and whether its answer was kept, by this process."""

    times: int = 0
    last: int = -1
    kept: bool = False


class Lines:
    """Results by their ``custom_id``, and how often a request was asked; on disk, as there may be millions.

    Of several results the first counts, but that of an attempt that failed gives way.
    """

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE results (key TEXT PRIMARY KEY, line BLOB, source TEXT, used INTEGER, is_answer INTEGER)"
            " WITHOUT ROWID;"
            "CREATE TABLE asked (key TEXT PRIMARY KEY, times INTEGER, last INTEGER, kept INTEGER) WITHOUT ROWID"
        )

    def close(self) -> None:
        self._db.close()

    def read(self, path: Path, source: str) -> int:
        """Add the results of a file, plain or gzip, up to the place where it was cut off; how many were there already.

        `SettingError` if it cannot be read, or holds other lines than results.
        """
        try:
            with path.open("rb") as file:
                rows = [0]

                def counted() -> Iterator[tuple[str, bytes, str, bool]]:
                    for number, line in enumerate(_lines(file), start=1):
                        if line.strip() and not _is_cut_off(line):
                            rows[0] += 1
                            key, is_answer = _key_and_kind(line, f"{source}, line {number}")
                            yield key, line, source, is_answer

                self._db.execute("BEGIN")
                added = self._db.executemany(_ADD, counted()).rowcount
                self._db.execute("COMMIT")
                return rows[0] - added
        except (OSError, zlib.error) as error:
            problem = f"cannot be read ({getattr(error, 'strerror', None) or error})"
            raise SettingError(source, problem, "Check its name, or have it written again.") from error

    def take(self, key: str) -> dict[str, Any] | None:
        """The result of a request, once."""
        row = self._db.execute("SELECT line FROM results WHERE key = ? AND NOT used", (key,)).fetchone()
        if row is None:
            return None
        self._db.execute("UPDATE results SET used = 1, line = NULL WHERE key = ?", (key,))
        line: dict[str, Any] = from_json(row[0])
        return line

    def unused(self, source: str) -> tuple[list[str], int, int]:
        """The ids of a file's answers that nobody asked for, how many of its results were, and how many there are."""
        sql = "SELECT key, used, is_answer FROM results WHERE source = ?"
        rows = self._db.execute(sql, (source,)).fetchall()
        ids = [key for key, used, is_answer in rows if is_answer and not used]
        return ids, sum(used for _, used, _ in rows), len(rows)

    def asked(self, key: str) -> Asked:
        row = self._db.execute("SELECT times, last, kept FROM asked WHERE key = ?", (key,)).fetchone()
        return Asked(*row) if row else Asked()

    def set_asked(self, key: str, asked: Asked) -> None:
        self._db.execute("INSERT OR REPLACE INTO asked VALUES (?, ?, ?, ?)", (key, *asked))


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    with suppress(EOFError):  # a gzip file that was cut off
        yield from gzip.GzipFile(fileobj=file) if packed else file


def _is_cut_off(line: bytes) -> bool:
    """Whether it is half a line: the last one, of a file that was cut off."""
    if line.endswith(b"\n") or not line.lstrip().startswith(b"{"):
        return False
    try:
        from_json(line)
    except ValueError:
        return True
    return False


def _key_and_kind(line: bytes, place: str) -> tuple[str, bool]:
    """The ``custom_id`` of a result, and whether it is an answer."""
    try:
        result = from_json(line)
    except ValueError:
        result = None
    problem = ""
    if not isinstance(result, dict) or not isinstance(result.get("custom_id"), str):
        problem = "is no line of a batch's results"
    elif "response" not in result and "error" not in result:
        problem = "is a request, not a result"
    if problem:
        raise SettingError(place, problem, "Give the files that the server wrote.")
    response = result.get("response")
    return result["custom_id"], isinstance(response, dict) and response.get("status_code") == 200


class Requests:
    """Requests on their way into files of at most 50,000 lines and 100 MB, each submitted once it is full.

    Beside each file stands its manifest: a line a request, which says what it is for.
    """

    def __init__(self, path: Path, submit: Callable[[Path, int], None]) -> None:
        self._path, self._submit = path, submit
        self._n_lines = self._n_bytes = self._n_total = 0

    def add(self, line: bytes, about: bytes) -> None:
        if self._n_lines == MOST_LINES or self._n_bytes + len(line) > MOST_BYTES:
            self._hand_over()
        with self._path.open("ab") as file, manifest_of(self._path).open("ab") as manifest:
            file.write(line)
            manifest.write(about)
        self._n_lines, self._n_bytes = self._n_lines + 1, self._n_bytes + len(line)

    def finish(self) -> int:
        """Submit what is left; how many lines there were since the last time."""
        self._hand_over()
        n_lines, self._n_total = self._n_total, 0
        return n_lines

    def _hand_over(self) -> None:
        if self._n_lines:
            self._submit(self._path, self._n_lines)
            for path in (self._path, manifest_of(self._path)):
                path.unlink(missing_ok=True)
            self._n_total += self._n_lines
            self._n_lines = self._n_bytes = 0


def manifest_of(path: Path) -> Path:
    """The manifest beside a file of requests."""
    return path.with_suffix(".manifest")


def move_into(folder: Path, path: Path, run_id: str, number: int) -> Path:
    """Move a file of requests and its manifest into a folder, under names that are the same for the same requests."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:8]
    target = folder / f"{run_id}-{number:03}-{digest}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(manifest_of(path), manifest_of(target))
        shutil.move(path, target)
    except OSError as error:
        raise SettingError(
            str(folder), f"cannot be written to ({error.strerror})", "Name another."
        ) from error
    return target
