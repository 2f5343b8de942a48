"""Answers that the store could not take: in memory, and in a file beside it, until it can."""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from evidencebench_core.data.claims import claims_on
from evidencebench_core.data.files import sync_folder
from evidencebench_core.words import quantity

_TOKEN: Final = re.compile("[0-9a-f]{16}")

Row: TypeAlias = tuple[str, str, bytes, str, str]
"""Key, model, packed request, answer as JSON, time: as the store's table has them."""


class SideFile:
    """The answers of one `AnswerCache` that wait: a line of JSON an answer, synced before anybody goes on.

    Its name is claimed while this process may add to it; a file that nobody claims is that of a run that has ended.
    """

    def __init__(self, store: Path) -> None:
        self.rows: list[Row] = []
        self._n_written, self._reason = 0, ""
        self._claims, self._token, self._is_held = claims_on(store), "", False
        self._prefix = store.with_name(f"{store.name}.answers-")

    @property
    def path(self) -> Path:
        return self._prefix.with_name(f"{self._prefix.name}{self._token}.jsonl")

    @property
    def n_in_memory(self) -> int:
        """How many answers are in no file."""
        return len(self.rows) - self._n_written

    @property
    def note(self) -> str:
        """A line for people on the answers that wait; ``""`` if nothing does."""
        if not self.rows:
            return ""
        number = quantity(len(self.rows), "model answer")
        if not self.n_in_memory:
            return f"Until the store can be written, {self.path} keeps {number}."
        reason = f"neither the store nor {self.path} can be written ({self._reason})"
        return f"Kept in memory only, {number}: {reason}. Free the disk, then they are written."

    def add(self, rows: Sequence[Row]) -> None:
        """Have these wait too, in the file where it can be written."""
        self.rows += rows
        lines = [_line(row) for row in self.rows[self._n_written :]]
        try:
            if not self._is_held:
                self._token, self._is_held = secrets.token_hex(8), True
                self._claims.take(self._token)
            _append(self.path, b"".join(lines))
            self._n_written = len(self.rows)
        except OSError as error:
            self._reason = error.strerror or str(error)

    def clear(self) -> None:
        """All are in the store."""
        if self._is_held:
            self.path.unlink(missing_ok=True)
        self.rows, self._n_written = [], 0
        self.leave()

    def leave(self) -> None:
        """Let go of the file: the next to come brings in what is in it."""
        if self._is_held:
            self._claims.drop(self._token)
            self._is_held = False

    @contextmanager
    def left_over(self) -> Iterator[list[Row]]:
        """The answers left by runs that have ended; their files are deleted if the block ends well."""
        paths = []
        for path in sorted(self._prefix.parent.glob(f"{self._prefix.name}*.jsonl")):
            token = path.name[len(self._prefix.name) : -len(".jsonl")]
            if _TOKEN.fullmatch(token) and self._claims.take(token):
                paths.append((token, path))
        try:
            yield [row for _, path in paths for row in _rows(path)]
            for _, path in paths:
                path.unlink(missing_ok=True)
        finally:
            for token, _ in paths:
                self._claims.drop(token)


def _line(row: Row) -> bytes:
    key, model, request, answer, moment = row
    return json.dumps([key, model, base64.b64encode(request).decode(), answer, moment]).encode() + b"\n"


def _append(path: Path, lines: bytes) -> None:
    """Append, all of it or nothing, and sync."""
    is_new = not path.exists()
    with open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            written = 0
            while written < len(lines):
                written += file.write(lines[written:])
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise
    if is_new:
        sync_folder(path.parent)


def _rows(path: Path) -> Iterator[Row]:
    """The rows of a file; a last line that a kill cut short was never acknowledged."""
    if not path.exists():  # brought in by another meanwhile
        return
    for line in path.read_bytes().splitlines():
        try:
            key, model, request, answer, moment = json.loads(line)
        except ValueError:
            continue
        yield key, model, base64.b64decode(request), answer, moment
