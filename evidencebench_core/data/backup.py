"""A copy of a store, made while others write to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import whole_file
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError

_PAGES: Final = 4096  # copied at a time


def backup(
    store: Store,
    path: Path,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Copy a store, as it is when the copy begins, to one file that only its owner may read; its size in bytes.

    Parameters
    ----------
    store : Store
        Others may go on reading and writing it; what they commit meanwhile is not in the copy.
    path : Path
        Stands there once it is whole, checked and on disk.
    overwrite : bool
        Whether it may take the place of another file.
    progress : callable, optional
        Called now and then with the bytes copied and the bytes in all.

    Raises
    ------
    StoreError
        If the store is not there or damaged, or the copy would take the place of a file or of a store in use.
    SettingError
        If the file cannot be written.
    """
    path = Path(path).resolve()
    if not store.path.is_file():
        raise StoreError(str(store.path), "is not there", "Name the store with --store.")
    if path.exists() and (path.samefile(store.path) or not path.is_file()):
        problem = "is the store itself" if path.samefile(store.path) else "is no file"
        raise StoreError(str(path), problem, "Name another file.")
    if path.exists() and not overwrite:
        raise StoreError(str(path), "is there already", "Name another file, or replace it with --overwrite.")
    # SQLite would take what is in them for changes to the copy.
    for beside in (path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-journal")):
        if beside.exists():
            raise StoreError(str(path), f"is in use: {beside.name} is beside it", "Name another file.")
    with whole_file(path, private=True) as stream:
        _copy(store, Path(stream.name), path, progress)
    return path.stat().st_size


def _copy(store: Store, part: Path, path: Path, progress: Callable[[int, int], None] | None) -> None:
    def copied(_: int, left: int, total: int) -> None:
        if progress is not None:
            progress((total - left) * page_size, total * page_size)

    # Without a journal: it is no store before it is whole, and is synced then.
    with store.read() as db, closing(sqlite3.connect(part, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = OFF")
        copy.execute("PRAGMA synchronous = OFF")
        page_size = db.execute("PRAGMA page_size").fetchone()[0]
        # In a transaction of its own: without one the copy would begin again with every commit of another program.
        db.execute("BEGIN")
        try:
            db.execute("SELECT count(*) FROM datasets").fetchone()
            db.backup(copy, pages=_PAGES, progress=copied)
            (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
                raise
            raise StoreError(
                str(path), f"cannot be written ({error})", "Free the disk, or name another file."
            ) from error
        finally:
            db.execute("ROLLBACK")
    if found != "ok":
        raise StoreError(
            str(store.path),
            f"is damaged ({found})",
            "Keep earlier backups.",
        )
