"""Answers kept in the store, each durable before its asker goes on; many at once share one transaction."""

from __future__ import annotations

import datetime
import json
import os
import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import orjson

from evidencebench_core.data.packing import zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.llm.claims import Claims, Wait
from evidencebench_core.llm.request import Answer, json_bytes

_PER_QUERY: Final = 500
_LEVEL: Final = 1  # of zstd: as small as need be, and soon done
_KEPT: Final = tuple(one.name for one in fields(Answer) if one.name not in ("cached", "key"))


class AnswerCache:
    """Every answer under the key of its request; for any number of threads and processes.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._shared = _shared_by(store.path)

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

    def records(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The records of those keys that have one."""
        return {key: _loaded(text) for key, text in self._rows("key, answer", keys)}

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

    def keep(self, key: str, model: str, request: bytes, answer: Answer) -> None:
        """Keep an answer, in place of an older one; the request as `json_bytes` writes it."""
        kept = {name: getattr(answer, name) for name in _KEPT}
        self.keep_records(model, [(key, request, kept)])

    def keep_records(self, model: str, records: Iterable[tuple[str, bytes, object]]) -> None:
        """Keep keys with their request and answer, in one transaction; it is done when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        shared = self._shared
        mine = _Waiting(
            [(key, model, request, json_bytes(answer).decode(), now) for key, request, answer in records]
        )
        shared.waiting.append(mine)
        with shared.writing:
            if mine.written:  # by the one before, in one transaction with its own
                return
            together = shared.waiting[:]
            try:
                self._write([row for one in together for row in one.rows])
            except BaseException:
                shared.waiting.remove(mine)  # the others try for themselves
                raise
            for one in together:
                one.written = True
            del shared.waiting[: len(together)]

    def _write(self, rows: list[tuple[str, str, bytes, str, str]]) -> None:
        packed = zstd_frames([request for _, _, request, _, _ in rows], _LEVEL)
        values = [
            (key, model, body, *rest) for (key, model, _, *rest), body in zip(rows, packed, strict=True)
        ]
        with self.store.write() as db:
            db.executemany("INSERT OR REPLACE INTO llm_answers VALUES (?, ?, ?, ?, ?)", values)

    def request(self, key: str) -> Any:
        """The request that was answered, as JSON; ``None`` if there is no answer."""
        from zstandard import ZstdDecompressor

        with self.store.read() as db:
            row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else _loaded(ZstdDecompressor().decompress(row[0]))

    def claimed(self, keys: Iterable[str], wait: Wait, patience: float) -> AbstractContextManager[None]:
        """While the block runs nobody else asks for these, in whatever process: see `Claims.claimed`."""
        return self._shared.claims.claimed(keys, wait, patience)


def _loaded(text: str | bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # half a surrogate pair, escaped
        return json.loads(text)


@dataclass(slots=True, eq=False)
class _Waiting:
    """Rows of one asker on their way into the store."""

    rows: list[tuple[str, str, bytes, str, str]]
    written: bool = False


class _Shared:
    """State shared by all caches of one store in this process."""

    def __init__(self, store: Path) -> None:
        self.claims = Claims(store.with_name(f"{store.name}.llm-claims"))
        self.waiting: list[_Waiting] = []  # to be written next
        self.writing = threading.Lock()


_BY_STORE: dict[Path, _Shared] = {}
_BY_STORE_LOCK: Final = threading.Lock()


def _shared_by(store: Path) -> _Shared:
    path = store.resolve()
    with _BY_STORE_LOCK:
        return _BY_STORE.setdefault(path, _Shared(path))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BY_STORE.clear)
