from pathlib import Path

import pytest

from evidencebench_core.retrievers.trained_on import TrainedOn, trained_on_at


@pytest.mark.parametrize("content", [None, "not json", "[]", '{"dataset_sha256": 1}'])
def test_the_record_is_read_back_and_nothing_else(tmp_path: Path, content: str | None) -> None:
    record = TrainedOn("ab", ("i1", "i2"), ("p1",), "train")
    record.write(tmp_path)
    assert trained_on_at(str(tmp_path)) == (record,)
    (tmp_path / "trained_on.json").unlink()
    if content is not None:
        (tmp_path / "trained_on.json").write_text(content, encoding="utf-8")
    assert trained_on_at(str(tmp_path)) == ()
