"""Answers kept in the store, each durable before its asker goes on; claims, so that nothing is asked twice at once."""

from __future__ import annotations

import asyncio
import base64
import datetime
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any, Final, TypeAlias

from evidencebench_core.data.claims import claims_on
from evidencebench_core.data.packing import zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.llm.request import Answer, Vectors, from_json, json_bytes

_PER_QUERY: Final = 500
_KEEP: Final = """INSERT INTO llm_answers (key, model, request, answer, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET model = excluded.model, request = excluded.request, answer = excluded.answer,
        created_at = excluded.created_at"""
_LEVEL: Final = 1  # of zstd: as small as need be, and soon done
_POLL: Final = 0.05  # seconds between looks whether a claim has ended
_KEPT: Final = tuple(one.name for one in fields(Answer) if one.name not in ("cached", "key"))

Record: TypeAlias = tuple[str, str, bytes, object]
"""Key, model, request (as `json_bytes` writes it) and what is kept of the answer, JSON-able."""


class AnswerCache:
    """Every answer under the key of its request; for any number of threads and processes."""

    def __init__(self, store: Store) -> None:
        self.store, self.claims = store, claims_on(store.path)

    def replies(self, keys: Iterable[str]) -> dict[str, Answer | Vectors]:
        """Answers, marked as cached, and vectors of single texts, under those keys that have one."""
        return {key: reply_of(key, from_json(text)) for key, text in self._rows("key, answer", keys)}

    def known(self, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys under which something is kept."""
        return frozenset(key for (key,) in self._rows("key", keys))

    def request(self, key: str) -> Any:
        """The request that was answered, as JSON; ``None`` if there is no answer."""
        from zstandard import ZstdDecompressor

        rows = self._rows("request", (key,))
        return from_json(ZstdDecompressor().decompress(rows[0][0])) if rows else None

    def _rows(self, columns: str, keys: Iterable[str]) -> list[tuple[Any, ...]]:
        wanted, rows = tuple(dict.fromkeys(keys)), list[tuple[Any, ...]]()
        with self.store.read() as db:
            for start in range(0, len(wanted), _PER_QUERY):
                part = wanted[start : start + _PER_QUERY]
                marks = ",".join("?" * len(part))
                rows += db.execute(f"SELECT {columns} FROM intact_llm_answers WHERE key IN ({marks})", part)
        return rows

    def keep(self, records: Sequence[Record]) -> None:
        """Keep them all, in place of older ones, in one transaction; it is durable when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        packed = zstd_frames([request for _, _, request, _ in records], _LEVEL)
        values = [
            (key, model, body, json_bytes(answer).decode(), now)
            for (key, model, _, answer), body in zip(records, packed, strict=True)
        ]
        with self.store.write() as db:
            db.executemany(_KEEP, values)

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
