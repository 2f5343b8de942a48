"""JSON that a user wrote, read without guessing: no key twice, no number that JSON does not have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NoReturn

from evidencebench_core.errors import DataError, shown


def json_value(
    path: Path, remedy: str, repeated: str = "Keep one of them.", content: bytes | None = None
) -> object:
    """The value of a file, or `DataError`: `remedy` says what it should hold, `repeated` what to do about a key.

    ``content`` is what was read of the file already.
    """
    place = str(path)
    try:
        text = (path.read_bytes() if content is None else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(place, f"is not UTF-8 text: {error}", remedy) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise DataError(place, problem, "Name a file that can be read.") from error

    def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise DataError(place, f"has the key {shown(key)} more than once", repeated)
        return found

    def no_number(name: str) -> NoReturn:
        raise DataError(place, f"holds {name}, which is not JSON", remedy)

    try:
        value: object = json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(place, f"is not JSON: {error}", remedy) from error
    return value
