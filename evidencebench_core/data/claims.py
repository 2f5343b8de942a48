"""Claims: who is at work on something beside a store, so that nobody else begins it or clears it away."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from evidencebench_core.errors import StoreError

if sys.platform != "win32":  # there claims hold within one process only
    import fcntl


class Claims:
    """Claims on keys (hexadecimal): a set for this process, and a byte locked in a file among processes.

    The kernel lets go of the byte when its process dies, whichever way.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._guard, self._taken = path, threading.Lock(), set[str]()
        self._file: int | None = None

    def take(self, key: str) -> bool:
        with self._guard:
            if key in self._taken:
                return False
            if sys.platform != "win32":
                if self._file is None:  # never closed: closing it would let go of every byte
                    self._file = self._opened()
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

    def _opened(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            problem = f"cannot be written ({error.strerror})"
            raise StoreError(str(self._path), problem, "Free the disk, or name another store.") from error


_CLAIMS: dict[str, Claims] = {}  # by store
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CLAIMS.clear)


def claims_on(path: Path) -> Claims:
    """The claims of this process beside the store at a path."""
    path = path.resolve()
    return _CLAIMS.setdefault(str(path), Claims(path.with_name(f"{path.name}.llm-claims")))
