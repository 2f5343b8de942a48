"""A prediction file: ``{"instance id": [sentence index, ...], ...}``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NoReturn

from evidencebench_core.errors import DataError, shown

_REMEDY = 'A prediction file is one JSON object: {"instance id": [sentence index, ...], ...}.'


def predictions_from(path: Path) -> dict[str, list[object]]:
    """The lists of a prediction file by instance id, in the order of the file.

    Whether the indices fit their papers is for `score_predictions` to say, which knows the papers.

    Raises
    ------
    DataError
        If the file cannot be read, is not one JSON object of lists, or names an instance twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", _REMEDY) from error
    except OSError as error:
        raise DataError(
            str(path),
            f"cannot be read: {error.strerror or error}",
            "Name a file that can be read.",
        ) from error

    def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((repeated, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise DataError(
                str(path), f"has the key {shown(repeated)} more than once", "Keep one prediction an instance."
            )
        return found

    def no_number(name: str) -> NoReturn:
        raise DataError(str(path), f"holds {name}, which is not JSON", _REMEDY)

    try:
        value = json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(str(path), f"is not JSON: {error}", _REMEDY) from error
    if not isinstance(value, dict):
        raise DataError(str(path), f"holds {shown(value)}, not an object", _REMEDY)
    for instance_id, picks in value.items():
        if not isinstance(picks, list):
            raise DataError(f"{path}, {shown(instance_id)}", f"is {shown(picks)}, not a list", _REMEDY)
    return value
