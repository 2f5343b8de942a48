"""Claims on requests: while one asks, no other thread or process asks the same."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":  # there claims hold among the threads of one process only
    import fcntl


Wait = Callable[[float], None]

_POLL: Final = 0.05  # seconds between looks whether another process is done


class Claims:
    """Claims on keys: a lock among threads, and a byte locked in a file among processes.

    The kernel lets go of the byte when its process dies, whichever way.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._taken: dict[str, tuple[threading.Lock, int]] = {}
        self._file: int | None = None

    @contextmanager
    def claimed(self, keys: Iterable[str], wait: Wait, patience: float) -> Iterator[None]:
        """While the block runs nobody else has these; waits for whoever does."""
        with ExitStack() as held:
            for key in sorted(set(keys)):  # in one order everywhere: no two can wait for each other
                held.enter_context(self._of(key, wait, patience))
            yield

    @contextmanager
    def _of(self, key: str, wait: Wait, patience: float) -> Iterator[None]:
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
