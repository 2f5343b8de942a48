"""Answers kept in the store, each durable before its asker goes on; claims, so that nothing is asked twice at once."""

from __future__ import annotations

import asyncio
import base64
import datetime
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from typing import Any, Final, TypeAlias

from evidencebench_core.data.claims import claims_on
from evidencebench_core.data.packing import zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMError, StoreError
from evidencebench_core.llm.request import Answer, Vectors, from_json, json_bytes
from evidencebench_core.llm.side_file import Row, SideFile

_log = logging.getLogger(__name__)
_PER_QUERY: Final = 500
_LEVEL: Final = 1  # of zstd: as small as need be, and soon done
_AGAIN: Final = 1.0  # second between looks whether the disk has room again
_POLL: Final = 0.05  # seconds between looks whether a claim has ended
_KEPT: Final = tuple(one.name for one in fields(Answer) if one.name not in ("cached", "key"))

_COLUMNS: Final = ("key", "model", "request", "answer", "created_at")
_INSERT: Final = f"""INSERT INTO llm_answers ({", ".join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET model = excluded.model, request = excluded.request, answer = excluded.answer,
        created_at = excluded.created_at WHERE excluded.created_at >= llm_answers.created_at"""

Record: TypeAlias = tuple[str, str, bytes, object]
"""Key, model, request (as `json_bytes` writes it) and what is kept of the answer, JSON-able."""


class AnswerCache:
    """Every answer under the key of its request; for any number of threads and processes."""

    def __init__(self, store: Store) -> None:
        self.store, self.claims = store, claims_on(store.path)
        self._side, self._keeping = SideFile(store.path), threading.Lock()

    @property
    def note(self) -> str:
        """A line for people on the answers that wait because the store cannot be written; ``""`` if nothing does."""
        return self._side.note

    def replies(self, keys: Iterable[str]) -> dict[str, Answer | Vectors]:
        """Answers, marked as cached, and vectors of single texts, under those keys that have one."""
        return {key: reply_of(key, from_json(text)) for key, text in self._rows(keys, "key", "answer")}

    def known(self, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys under which something is kept."""
        return frozenset(key for (key,) in self._rows(keys, "key"))

    def request(self, key: str) -> Any:
        """The request that was answered, as JSON; ``None`` if there is no answer."""
        from zstandard import ZstdDecompressor

        rows = self._rows((key,), "request")
        return from_json(ZstdDecompressor().decompress(rows[0][0])) if rows else None

    def _rows(self, keys: Iterable[str], *columns: str) -> list[tuple[Any, ...]]:
        wanted, rows = tuple(dict.fromkeys(keys)), list[tuple[Any, ...]]()
        with self.store.read() as db:
            for start in range(0, len(wanted), _PER_QUERY):
                part = wanted[start : start + _PER_QUERY]
                marks = ",".join("?" * len(part))
                rows += db.execute(
                    f"SELECT {', '.join(columns)} FROM llm_answers WHERE key IN ({marks})", part
                )
        waiting = [row for row in tuple(self._side.rows) if row[0] in wanted]
        return rows + [tuple(row[_COLUMNS.index(name)] for name in columns) for row in waiting]

    def keep(self, records: Sequence[Record]) -> None:
        """Keep them all, in place of older ones; they are durable when this returns.

        Where the store cannot be written they wait in a file beside it, and are written with the next ones, or by the
        next run (`bring_in`). `LLMError` where that cannot be written either: they wait in memory.
        """
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        packed = zstd_frames([request for _, _, request, _ in records], _LEVEL)
        rows = [
            (key, model, body, json_bytes(answer).decode(), now)
            for (key, model, _, answer), body in zip(records, packed, strict=True)
        ]
        with self._keeping:
            try:
                self._write([*self._side.rows, *rows])
            except StoreError as error:
                self._side.add(rows)
                if self._side.n_in_memory:
                    place, remedy = str(self.store.path), "Start the run again then: it goes on from here."
                    raise LLMError(place, self._side.note.rstrip("."), remedy, stops_run=True) from error
            else:
                self._side.clear()

    def bring_in(self) -> bool:
        """Write what waits, of runs that have ended too; whether nothing is in memory only."""
        with self._keeping, suppress(StoreError, OSError):
            with self._side.left_over() as rows:
                self._write(rows)
            self._write(self._side.rows)
            self._side.clear()
        if self._side.n_in_memory:
            self._side.add(())
        return not self._side.n_in_memory

    def leave(self) -> None:
        """Leave what waits in the file to the next run."""
        self._side.leave()

    def _write(self, rows: Sequence[Row]) -> None:
        if rows:
            with self.store.write() as db:
                db.executemany(_INSERT, rows)

    @asynccontextmanager
    async def claimed(self, keys: Iterable[str], check: Callable[[], None]) -> AsyncIterator[None]:
        """While the block runs nobody else asks for these; waits for whoever does, until ``check`` raises."""
        held: list[str] = []
        try:
            for key in sorted(set(keys)):  # in one order everywhere: no two can wait for each other
                while not self.claims.take(key):
                    check()
                    await asyncio.sleep(_POLL)
                held.append(key)
            yield
        finally:
            for key in held:
                self.claims.drop(key)


def record_of(key: str, model: str, request: bytes, reply: Answer | Vectors) -> Record:
    """The record of an answer, without what its key and its way here say, or of a vector."""
    if isinstance(reply, Answer):
        return key, model, request, {name: getattr(reply, name) for name in _KEPT}
    return key, model, request, {"vector": base64.b64encode(reply.astype("<f4").tobytes()).decode("ascii")}


def reply_of(key: str, record: dict[str, Any]) -> Answer | Vectors:
    if "vector" not in record:
        values = {name: record[name] for name in _KEPT if name in record}
        return Answer(**values | {"left_out": tuple(record.get("left_out", ())), "cached": True, "key": key})
    import numpy as np

    return np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")


class Writer:
    """Keeps records for one event loop: what gathers while a transaction is written goes into the next."""

    def __init__(self, answers: AnswerCache) -> None:
        self._answers, self._lock, self._next = answers, asyncio.Lock(), list[Record]()

    async def keep(self, records: Sequence[Record] = ()) -> None:
        """They are durable when this returns; if it is cancelled, at the next call."""
        batch = self._next
        batch += records
        async with self._lock:
            if batch is self._next:
                self._next = []
            if batch:  # else another has written it, of those that waited for it
                await asyncio.to_thread(self._answers.keep, tuple(batch))
                batch.clear()

    async def close(self) -> None:
        """Keep what a cancel has left; what is in memory only is tried again and again, and said."""
        with suppress(LLMError):
            await self.keep()
        if not await asyncio.to_thread(self._answers.bring_in):
            _log.warning(self._answers.note)
            while not await asyncio.to_thread(self._answers.bring_in):
                await asyncio.sleep(_AGAIN)
        self._answers.leave()
