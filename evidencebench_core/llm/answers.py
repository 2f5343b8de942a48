"""Answers kept in the store, each durable before its asker goes on; many at once share one transaction."""

from __future__ import annotations

import asyncio
import datetime
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeAlias

from evidencebench_core.data.packing import zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.llm.claims import Claims
from evidencebench_core.llm.request import Answer, from_json, json_bytes

_PER_QUERY: Final = 500
_LEVEL: Final = 1  # of zstd: as small as need be, and soon done
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

    def __repr__(self) -> str:
        return f"AnswerCache({str(self.store.path)!r})"

    def answer(self, key: str) -> Answer | None:
        """The answer kept under a key, marked as cached."""
        found = self.records((key,)).get(key)
        if found is None:
            return None
        known = {name: found[name] for name in _KEPT if name in found}
        left_out = tuple(found.get("left_out", ()))
        return Answer(**{**known, "left_out": left_out, "cached": True, "key": key})

    def records(self, keys: Iterable[str]) -> dict[str, Any]:
        """The records of those keys that have one."""
        return {key: from_json(text) for key, text in self._rows("key, answer", keys)}

    def known(self, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys under which something is kept."""
        return frozenset(key for (key,) in self._rows("key", keys))

    def _rows(self, columns: str, keys: Iterable[str]) -> list[tuple[str, ...]]:
        wanted = tuple(dict.fromkeys(keys))
        found: list[tuple[str, ...]] = []
        with self.store.read() as db:
            for start in range(0, len(wanted), _PER_QUERY):
                part = wanted[start : start + _PER_QUERY]
                marks = ",".join("?" * len(part))
                found += db.execute(f"SELECT {columns} FROM llm_answers WHERE key IN ({marks})", part)
        return found

    def request(self, key: str) -> Any:
        """The request that was answered, as JSON; ``None`` if there is no answer."""
        from zstandard import ZstdDecompressor

        with self.store.read() as db:
            row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else from_json(ZstdDecompressor().decompress(row[0]))

    def keep(self, key: str, model: str, request: bytes, answer: Answer) -> None:
        """Keep an answer, in place of an older one; the request as `json_bytes` writes it."""
        self.keep_records([record_of(key, model, request, answer)])

    def keep_records(self, records: Sequence[Record]) -> None:
        """Keep them all, in one transaction; it is durable when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        packed = zstd_frames([request for _, _, request, _ in records], _LEVEL)
        values = [
            (key, model, body, json_bytes(answer).decode(), now)
            for (key, model, _, answer), body in zip(records, packed, strict=True)
        ]
        with self.store.write() as db:
            db.executemany("INSERT OR REPLACE INTO llm_answers VALUES (?, ?, ?, ?, ?)", values)

    def claimed(self, keys: Iterable[str], check: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        """While the block runs nobody else asks for these: see `Claims.claimed`."""
        return self._claims.claimed(keys, check)


def record_of(key: str, model: str, request: bytes, answer: Answer) -> Record:
    """All of an answer but what its key and its way here say."""
    return key, model, request, {name: getattr(answer, name) for name in _KEPT}


class Writer:
    """Keeps records for one event loop: what gathers while a transaction is written goes into the next."""

    def __init__(self, answers: AnswerCache) -> None:
        self._answers = answers
        self._waiting: list[tuple[Sequence[Record], asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def keep(self, records: Sequence[Record]) -> None:
        """They are durable when this returns; a cancel does not hinder that."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((records, written))
        if self._task is None:
            self._task = asyncio.create_task(self._write())
        await asyncio.shield(written)

    async def close(self) -> None:
        """Wait until all is written."""
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                rows = [record for records, _ in waiting for record in records]
                await asyncio.to_thread(self._answers.keep_records, rows)
            except Exception as failure:  # noqa: BLE001 - raised again where each of them waits
                error = failure
            for _, written in waiting:
                if error is None:
                    written.set_result(None)
                else:
                    written.set_exception(error)
        self._task = None


_BY_STORE: dict[Path, Claims] = {}
_BY_STORE_LOCK: Final = threading.Lock()


def _claims_of(store: Path) -> Claims:
    path = store.resolve()
    with _BY_STORE_LOCK:
        return _BY_STORE.setdefault(path, Claims(path.with_name(f"{path.name}.llm-claims")))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BY_STORE.clear)
