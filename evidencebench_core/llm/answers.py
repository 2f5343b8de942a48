"""Answers kept in the store, each durable before its asker goes on; claims, so that nothing is asked twice at once."""

from __future__ import annotations

import asyncio
import datetime
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeAlias

from evidencebench_core.data.packing import zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.llm.request import Answer, from_json, json_bytes

if sys.platform != "win32":  # there claims hold within one process only
    import fcntl

_PER_QUERY: Final = 500
_LEVEL: Final = 1  # of zstd: as small as need be, and soon done
_POLL: Final = 0.05  # seconds between looks whether a claim has ended
_KEPT: Final = tuple(one.name for one in fields(Answer) if one.name not in ("cached", "key"))

Record: TypeAlias = tuple[str, str, bytes, object]
"""Key, model, request (as `json_bytes` writes it) and what is kept of the answer, JSON-able."""


class AnswerCache:
    """Every answer under the key of its request; for any number of threads and processes.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._claims = _claims_of(store.path)

    def answer(self, key: str) -> Answer | None:
        """The answer kept under a key, marked as cached."""
        record = self.records((key,)).get(key)
        return None if record is None else answer_of_record(key, record)

    def records(self, keys: Iterable[str]) -> dict[str, Any]:
        """The records of those keys that have one."""
        return {key: from_json(text) for key, text in self._rows("key, answer", keys)}

    def known(self, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys under which something is kept."""
        return frozenset(key for (key,) in self._rows("key", keys))

    def _rows(self, columns: str, keys: Iterable[str]) -> list[tuple[str, ...]]:
        wanted = tuple(dict.fromkeys(keys))
        rows: list[tuple[str, ...]] = []
        with self.store.read() as db:
            for start in range(0, len(wanted), _PER_QUERY):
                part = wanted[start : start + _PER_QUERY]
                marks = ",".join("?" * len(part))
                rows += db.execute(f"SELECT {columns} FROM llm_answers WHERE key IN ({marks})", part)
        return rows

    def request(self, key: str) -> Any:
        """The request that was answered, as JSON; ``None`` if there is no answer."""
        from zstandard import ZstdDecompressor

        with self.store.read() as db:
            row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else from_json(ZstdDecompressor().decompress(row[0]))

    def keep(self, records: Sequence[Record]) -> None:
        """Keep them all, in place of older ones, in one transaction; it is durable when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        packed = zstd_frames([request for _, _, request, _ in records], _LEVEL)
        values = [
            (key, model, body, json_bytes(answer).decode(), now)
            for (key, model, _, answer), body in zip(records, packed, strict=True)
        ]
        with self.store.write() as db:
            db.executemany("INSERT OR REPLACE INTO llm_answers VALUES (?, ?, ?, ?, ?)", values)

    @asynccontextmanager
    async def claimed(self, keys: Iterable[str], check: Callable[[], None]) -> AsyncIterator[None]:
        """While the block runs nobody else asks for these; waits for whoever does, until ``check`` raises."""
        held: list[str] = []
        try:
            for key in sorted(set(keys)):  # in one order everywhere: no two can wait for each other
                while not self._claims.take(key):
                    check()
                    await asyncio.sleep(_POLL)
                held.append(key)
            yield
        finally:
            for key in held:
                self._claims.drop(key)


def record_of(key: str, model: str, request: bytes, answer: Answer) -> Record:
    """All of an answer but what its key and its way here say."""
    return key, model, request, {name: getattr(answer, name) for name in _KEPT}


def answer_of_record(key: str, record: dict[str, Any]) -> Answer:
    """The answer in a record, marked as cached."""
    values = {name: record[name] for name in _KEPT if name in record}
    return Answer(**{**values, "left_out": tuple(record.get("left_out", ())), "cached": True, "key": key})


@dataclass(slots=True, eq=False)
class _Batch:
    records: list[Record] = field(default_factory=list)
    written: bool = False


class Writer:
    """Keeps records for one event loop: what gathers while a transaction is written goes into the next."""

    def __init__(self, answers: AnswerCache) -> None:
        self._answers, self._lock, self._next = answers, asyncio.Lock(), _Batch()

    async def keep(self, records: Sequence[Record]) -> None:
        """They are durable when this returns; if it is cancelled, when the writer is closed."""
        batch = self._next
        batch.records += records
        async with self._lock:
            await self._write(batch)

    async def close(self) -> None:
        """Write what a cancel has left."""
        async with self._lock:
            await self._write(self._next)

    async def _write(self, batch: _Batch) -> None:
        if batch is self._next:
            self._next = _Batch()
        if batch.records and not batch.written:  # by another of those that wait for the same
            await asyncio.to_thread(self._answers.keep, batch.records)
            batch.written = True


class _Claims:
    """Claims on keys: a set for this process, and a byte locked in a file among processes.

    The kernel lets go of the byte when its process dies, whichever way.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._taken: set[str] = set()
        self._file: int | None = None

    def take(self, key: str) -> bool:
        with self._guard:
            if key in self._taken:
                return False
            if sys.platform != "win32":
                if self._file is None:  # never closed: closing it would let go of every byte
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                    self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[:15], 16))
                except OSError:
                    return False
            self._taken.add(key)
            return True

    def drop(self, key: str) -> None:
        with self._guard:
            self._taken.discard(key)
            if sys.platform != "win32" and self._file is not None:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(key[:15], 16))


_BY_STORE: dict[Path, _Claims] = {}
_BY_STORE_LOCK: Final = threading.Lock()


def _claims_of(store: Path) -> _Claims:
    path = store.resolve()
    with _BY_STORE_LOCK:
        return _BY_STORE.setdefault(path, _Claims(path.with_name(f"{path.name}.llm-claims")))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BY_STORE.clear)
