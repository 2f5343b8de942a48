"""JSON that a user wrote, read without guessing: no key twice, no number that JSON does not have."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from evidencebench_core.data.files import file_content
from evidencebench_core.errors import DataError, shown

_MOST_BYTES: Final = 128 << 20
_MOST_VALUES: Final = 8_000_000  # 100,000 predictions of 10 have 1.1 million


class RepeatedKeyError(ValueError):
    """An object has a key more than once."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of the pairs, for `json.loads`; `RepeatedKeyError` instead of the last value of a key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise RepeatedKeyError(f"has the key {shown(key)} more than once")
    return found


def json_lines(path: Path, content: bytes, remedy: str, noun: str = "line") -> Iterator[tuple[int, object]]:
    """The number of each line that is not blank, from 1, and its value; `DataError` names the line as ``noun``."""
    for number, line in enumerate(content.removeprefix(BOM_UTF8).split(b"\n"), start=1):
        if line.strip():
            yield number, _value(f"{path}, {noun} {number}", line, remedy, "Keep one of them.")


def json_value(
    path: Path, remedy: str, repeated: str = "Keep one of them.", content: bytes | None = None
) -> object:
    """The value of a file, or `DataError`: `remedy` says what it should hold, `repeated` what to do about a key.

    ``content`` is what was read of the file already.
    """
    content = file_content(path, _MOST_BYTES, remedy) if content is None else content
    return _value(str(path), content, remedy, repeated)


def _value(place: str, content: bytes, remedy: str, repeated: str) -> object:
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise DataError(place, f"holds more than {_MOST_VALUES:,} values", remedy)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(place, f"is not UTF-8 text: {error}", remedy) from error

    def no_number(name: str) -> NoReturn:
        raise DataError(place, f"holds {name}, which is not JSON", remedy)

    try:
        value: object = json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_number)
    except RepeatedKeyError as error:
        raise DataError(place, str(error), repeated) from error
    except (ValueError, RecursionError) as error:
        raise DataError(place, f"is not JSON: {error}", remedy) from error
    return value
