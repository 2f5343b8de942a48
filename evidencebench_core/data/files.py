"""Files that users name: read within a bound, JSON without guessing; files that are written whole or not at all."""

import json
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from evidencebench_core.errors import DataError, SettingError, shown

_MOST_BYTES: Final = 128 << 20


def regular_file(path: Path, remedy: str) -> BinaryIO:
    """The opened file; `DataError` if it is not a regular file or cannot be read: a pipe could block for ever."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(str(path), "is not a regular file", remedy)
        return path.open("rb")
    except (OSError, ValueError) as error:  # no path has a NUL
        reason = getattr(error, "strerror", None) or error
        raise DataError(str(path), f"cannot be read: {reason}", "Name a file that can be read.") from error


def file_content(path: Path, most: int, remedy: str) -> bytes:
    """The bytes of a regular file; `DataError` if it is not one, cannot be read or has more than ``most`` bytes."""
    with regular_file(path, remedy) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise DataError(str(path), f"has more than {most:,} bytes", remedy)
    return content


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """The words of a TOML file in this folder."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


def json_lines(path: Path, content: bytes, remedy: str, noun: str = "line") -> Iterator[tuple[int, object]]:
    """The number (from 1) and the value of each line that is not blank; a `DataError` names the line as ``noun``."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, _parsed(f"{path}, {noun} {number}", line, remedy)


def json_value(path: Path, remedy: str, content: bytes | None = None) -> object:
    """The value in a file, or in its ``content``; `DataError` for broken JSON, repeated keys or NaN."""
    return _parsed(str(path), file_content(path, _MOST_BYTES, remedy) if content is None else content, remedy)


def _parsed(place: str, content: bytes, remedy: str) -> object:
    try:
        text = content.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(place, f"is not JSON in UTF-8: {error}", remedy) from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"it has the key {shown(repeated)} more than once")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")


@contextmanager
def whole_file(path: Path, private: bool = False) -> Iterator[BinaryIO]:
    """A stream to write to; its content appears at ``path`` only after the block has ended without an error.

    Links are followed; a device or a pipe is written to directly. Only its owner can read a ``private`` file.
    """
    path = Path(path).resolve()
    part = path.with_name(f".{path.name[:60]}.{uuid.uuid4().hex[:8]}.part")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        part.touch(0o600 if private else 0o666)
        with part.open("wb") as stream:
            yield stream
        if path.exists() and not private:
            shutil.copymode(path, part)
        with part.open("rb") as written:  # what another program wrote under its name, too
            os.fsync(written.fileno())
        part.replace(path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise SettingError(str(path), problem, "Name another file or free the disk.") from error
    finally:
        part.unlink(missing_ok=True)
