"""Answers kept in the store, and the claims that keep two askers from paying for the same one."""

from __future__ import annotations

import datetime
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import orjson

from evidencebench_core.data.store import Store
from evidencebench_core.llm.request import Answer, json_bytes

if sys.platform != "win32":  # there claims hold among the threads of one process only
    import fcntl

__all__ = ["AnswerCache", "Wait"]

Wait = Callable[[float], None]

_POLL: Final = 0.05  # seconds between looks whether another process is done
_PER_QUERY: Final = 500
_KEPT: Final = tuple(one.name for one in fields(Answer) if one.name != "cached")


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
        return Answer(**{**known, "left_out": tuple(found.get("left_out", ())), "cached": True})

    def records(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What is kept under those keys of which something is."""
        mine = _Looking(tuple(keys))
        self._claims.looking.append(mine)
        with self._claims.reading:
            if mine.found is None:  # else the one before has looked for both
                self._look(mine)
        return {key: _loaded(text) for key, text in (mine.found or {}).items()}

    def _look(self, mine: _Looking) -> None:
        """One look for all who wait: each look gives the interpreter's lock away, and comes back late."""
        together = self._claims.looking[:]
        wanted = list(dict.fromkeys(key for one in together for key in one.keys))
        found: dict[str, str] = {}
        try:
            with self.store.read() as db:
                for start in range(0, len(wanted), _PER_QUERY):
                    part = wanted[start : start + _PER_QUERY]
                    marks = ",".join("?" * len(part))
                    found.update(
                        db.execute(f"SELECT key, answer FROM llm_answers WHERE key IN ({marks})", part)
                    )
        except BaseException:
            self._claims.looking.remove(mine)  # the others try for themselves
            raise
        for one in together:
            one.found = {key: found[key] for key in one.keys if key in found}
        del self._claims.looking[: len(together)]

    def keep(self, key: str, model: str, request: object, answer: Answer) -> None:
        """Keep an answer, in place of an older one."""
        kept = {name: getattr(answer, name) for name in _KEPT}
        self.keep_records(model, [(key, request, kept)])

    def keep_records(self, model: str, records: Iterable[tuple[str, object, object]]) -> None:
        """Keep keys with their request and answer, in one transaction."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        rows = [
            (key, model, _packed(json_bytes(request)), json_bytes(answer).decode(), now)
            for key, request, answer in records
        ]
        mine = _Waiting(rows)
        self._claims.waiting.append(mine)
        with self._claims.writing:
            if mine.written:  # by the one before, in one transaction with its own
                return
            together = self._claims.waiting[:]
            try:
                with self.store.write() as db:
                    for one in together:
                        db.executemany("INSERT OR REPLACE INTO llm_answers VALUES (?, ?, ?, ?, ?)", one.rows)
            except BaseException:
                self._claims.waiting.remove(mine)  # the others try for themselves
                raise
            for one in together:
                one.written = True
            del self._claims.waiting[: len(together)]

    def request(self, key: str) -> Any:
        """The request that was answered, as JSON; ``None`` if there is no answer."""
        from zstandard import ZstdDecompressor

        with self.store.read() as db:
            row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else _loaded(ZstdDecompressor().decompress(row[0]))

    @contextmanager
    def claimed(self, keys: Iterable[str], wait: Wait, patience: float) -> Iterator[None]:
        """While the block runs nobody else asks for these; waits for whoever does.

        Parameters
        ----------
        keys : iterable of str
        wait : callable
            Waits so many seconds; raises to give up.
        patience : float
            After so many seconds the claim of somebody who still lives is passed over.
        """
        with ExitStack() as held:
            for key in sorted(set(keys)):  # in one order everywhere: no two can wait for each other
                held.enter_context(self._claims.of(key, wait, patience))
            yield


_local: Final = threading.local()


def _loaded(text: str | bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # half a surrogate pair, escaped
        return json.loads(text)


def _packed(content: bytes) -> bytes:
    if not hasattr(_local, "packer"):
        from zstandard import ZstdCompressor

        _local.packer = ZstdCompressor(level=1)
    packed: bytes = _local.packer.compress(content)
    return packed


@dataclass(slots=True, eq=False)
class _Waiting:
    """Rows of one asker on their way into the store."""

    rows: list[tuple[str, str, bytes, str, str]]
    written: bool = False


@dataclass(slots=True, eq=False)
class _Looking:
    """Keys that one asker looks for, and what is kept under them."""

    keys: tuple[str, ...]
    found: dict[str, str] | None = None


class _Claims:
    """Claims on keys: a lock among threads, and a byte locked in a file among processes.

    The kernel lets go of the byte when its process dies, whichever way.
    """

    def __init__(self, store: Path) -> None:
        self.reading = threading.Lock()
        self.looking: list[_Looking] = []  # to be looked for next
        self.waiting: list[_Waiting] = []  # to be written next
        self.writing = threading.Lock()  # one after the other: SQLite's own waiting is by naps
        self._path = store.with_name(f"{store.name}.llm-claims")
        self._guard = threading.Lock()
        self._taken: dict[str, tuple[threading.Lock, int]] = {}
        self._file: int | None = None

    @contextmanager
    def of(self, key: str, wait: Wait, patience: float) -> Iterator[None]:
        lock = self._enter(key)
        byte = int(key[:15], 16)
        ours = locked = False
        try:
            waited = 0.0
            while not (ours := lock.acquire(timeout=_POLL)) and waited < patience:
                wait(0.0)
                waited += _POLL
            while not (locked := self._lock_byte(byte)) and waited < patience:
                wait(_POLL)
                waited += _POLL
            yield
        finally:
            if locked:
                self._unlock_byte(byte)
            if ours:
                lock.release()
            self._leave(key)

    def _lock_byte(self, byte: int) -> bool:
        if sys.platform == "win32":
            return True
        with self._guard:
            if self._file is None:  # never closed: closing it would let go of every byte
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except OSError:
            return False
        return True

    def _unlock_byte(self, byte: int) -> None:
        if sys.platform != "win32" and self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)

    def _enter(self, key: str) -> threading.Lock:
        with self._guard:
            lock, n_users = self._taken.get(key) or (threading.Lock(), 0)
            self._taken[key] = (lock, n_users + 1)
            return lock

    def _leave(self, key: str) -> None:
        with self._guard:
            lock, n_users = self._taken.pop(key)
            if n_users > 1:
                self._taken[key] = (lock, n_users - 1)


_BY_STORE: dict[Path, _Claims] = {}
_BY_STORE_LOCK: Final = threading.Lock()


def _claims_of(store: Path) -> _Claims:
    """One for each store of this process: what a process has locked it can lock again."""
    path = store.resolve()
    with _BY_STORE_LOCK:
        return _BY_STORE.setdefault(path, _Claims(path))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BY_STORE.clear)
