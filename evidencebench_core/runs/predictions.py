"""A prediction file: ``{"instance id": [sentence index, ...], ...}``."""

from __future__ import annotations

from pathlib import Path

from evidencebench_core.data.strict_json import json_value
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
    value = json_value(path, _REMEDY, "Keep one prediction an instance.")
    if not isinstance(value, dict):
        raise DataError(str(path), f"holds {shown(value)}, not an object", _REMEDY)
    for instance_id, picks in value.items():
        if not isinstance(picks, list):
            raise DataError(f"{path}, {shown(instance_id)}", f"is {shown(picks)}, not a list", _REMEDY)
    return value
