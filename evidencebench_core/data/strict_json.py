"""JSON that a user wrote, read without guessing: no key twice, no number that JSON does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from evidencebench_core.data.files import file_content
from evidencebench_core.errors import DataError, shown

_MOST_BYTES: Final = 128 << 20


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"has the key {shown(repeated)} more than once")
    return value


def json_lines(path: Path, content: bytes, remedy: str, noun: str = "line") -> Iterator[tuple[int, object]]:
    """The number of each line that is not blank, from 1, and its value; `DataError` names the line as ``noun``."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, _value(f"{path}, {noun} {number}", line, remedy)


def json_value(path: Path, remedy: str, content: bytes | None = None) -> object:
    """The value of a file, or of its ``content``; `DataError`, whose ``remedy`` says what it should hold."""
    content = file_content(path, _MOST_BYTES, remedy) if content is None else content
    return _value(str(path), content, remedy)


def _value(place: str, content: bytes, remedy: str) -> object:
    try:
        return json.loads(
            content.decode("utf-8-sig"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise DataError(place, f"is not UTF-8 text: {error}", remedy) from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(place, f"is not JSON: {error}", remedy) from error
    except ValueError as error:
        raise DataError(place, str(error), remedy) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not JSON")
