from pathlib import Path

import pytest

from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on


def test_what_was_trained_on_is_read_back(tmp_path: Path) -> None:
    record = TrainedOn("ab", ("i1", "i2"), ("p1",), "train")
    record.write(tmp_path)
    assert read_trained_on(tmp_path) == record
    # A record without the name of the dataset is an earlier one.
    earlier = '{"dataset_sha256": "ab", "instance_ids": [], "paper_ids": ["p"]}'
    (tmp_path / "trained_on.json").write_text(earlier)
    assert read_trained_on(tmp_path) == TrainedOn("ab", (), ("p",))


@pytest.mark.parametrize("content", [None, "not json", "[]", '{"dataset_sha256": 1}'])
def test_no_readable_record(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "trained_on.json").write_text(content, encoding="utf-8")
    assert read_trained_on(tmp_path) is None
