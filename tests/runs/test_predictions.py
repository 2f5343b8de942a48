"""Prediction files: read whole, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.errors import DataError
from evidencebench_core.runs import predictions_from


def test_lists_by_instance_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('\ufeff{"b": [3, 1], "a": []}', encoding="utf-8")
    assert list(predictions_from(path).items()) == [("b", [3, 1]), ("a", [])]


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": [1], "b": [2], "a": [3]}',
        b"[[1, 2]]",
        b'{"a": 3}',
        b'{"a": [1, 2',
        b"",
        b'{"a": [NaN]}',
        b"\xff\xfe\x00\x01",
    ],
)
def test_what_is_no_prediction_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "predictions.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        predictions_from(path)
    assert caught.value.place.startswith(str(path))
    assert "\n" not in str(caught.value)
