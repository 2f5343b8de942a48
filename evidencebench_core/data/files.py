"""Files that are read within a bound, and files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from evidencebench_core.errors import DataError, SettingError


def file_content(path: Path, most: int, remedy: str) -> bytes:
    """The bytes of a regular file, or `DataError`: if it is none, cannot be read or has more than that."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # to open a pipe could wait for ever
            raise DataError(str(path), "is not a regular file", remedy)
        with path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:  # no path has a NUL
        reason = getattr(error, "strerror", None) or error
        raise DataError(str(path), f"cannot be read: {reason}", "Name a file that can be read.") from error
    if len(content) > most:
        raise DataError(str(path), f"has more than {most:,} bytes", remedy)
    return content


@contextmanager
def whole_file(path: Path, make_folder: bool = False, private: bool = False) -> Iterator[BinaryIO]:
    """A stream to write to; what was written stands at ``path``, on disk, once the block has ended without an error.

    A link stays a link; a device or a pipe is written to as it is. ``make_folder`` makes the folders above it; a
    ``private`` file can be read by its owner only. `SettingError` if it cannot be written.
    """
    part = None
    try:
        path = Path(path).resolve()
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:60]}.", suffix=".part", dir=path.parent)
        os.close(handle)
        part = Path(name)
        with part.open("wb") as stream:
            yield stream
        if not private:  # as it was made
            part.chmod(_usual_mode(path))
        with part.open("r+b") as written:
            os.fsync(written.fileno())
        part.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise SettingError(str(path), problem, "Name another file or free the disk.") from error
    finally:
        if part is not None:  # where it has not replaced the file
            part.unlink(missing_ok=True)


def make_private(path: Path) -> None:
    """Have an empty file that only its owner may read, where there is none; SQLite's files beside it are like it."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file survive a power cut, where the file system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _usual_mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
