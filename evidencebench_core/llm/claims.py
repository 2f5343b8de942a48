"""Claims on requests: while one asks, nobody else asks the same, in whatever thread or process."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":  # there claims hold within one process only
    import fcntl

_POLL: Final = 0.05  # seconds between looks whether the other is done


class Claims:
    """Claims on keys: a set for this process, and a byte locked in a file among processes.

    The kernel lets go of the byte when its process dies, whichever way.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._taken: set[str] = set()
        self._file: int | None = None

    @asynccontextmanager
    async def claimed(self, keys: Iterable[str], check: Callable[[], None]) -> AsyncIterator[None]:
        """While the block runs nobody else has these; waits for whoever does, as long as ``check`` raises nothing."""
        held: list[str] = []
        try:
            for key in sorted(set(keys)):  # in one order everywhere: no two can wait for each other
                while not self._take(key):
                    check()
                    await asyncio.sleep(_POLL)
                held.append(key)
            yield
        finally:
            for key in held:
                self._drop(key)

    def _take(self, key: str) -> bool:
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

    def _drop(self, key: str) -> None:
        with self._guard:
            self._taken.discard(key)
            if sys.platform != "win32" and self._file is not None:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(key[:15], 16))
