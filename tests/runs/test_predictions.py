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
    ("content", "problem"),
    [
        (b'{"a": [1], "b": [2], "a": [3]}', "key 'a' more than once"),
        (b"[[1, 2]]", "not an object"),
        (b'{"a": 3}', "is 3, not a list"),
        (b'{"a": [1, 2', "is not JSON"),
        (b"", "is not JSON"),
        (b'{"a": [NaN]}', "NaN, which is not JSON"),
        (b"\xff\xfe\x00\x01", "is not UTF-8"),
        (b"[" * 200_000, "is not JSON"),
        (b'{"a": [' + b"9" * 5000 + b"]}", "is not JSON"),
    ],
)
def test_what_is_no_prediction_file_is_refused_in_one_line(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "predictions.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        predictions_from(path)
    message = str(caught.value)
    assert problem in message
    assert message.startswith(str(path))
    assert "\n" not in message


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        predictions_from(tmp_path / name)
