"""Datasets back to the benchmark's JSON."""

import json
from pathlib import Path

import pytest

from evidencebench_core.data import ingest, open_store
from evidencebench_core.errors import SettingError
from evidencebench_core.export import stream_dataset
from tests.factories import raw_instance, written


def export_dataset(name: str, path: Path) -> dict[str, str]:
    with path.open("wb") as stream:
        return stream_dataset(open_store(), open_store().dataset(name), stream)


@pytest.mark.realdata
def test_the_released_train_file_comes_back_byte_for_byte(train_path: Path, tmp_path: Path) -> None:
    ingest(open_store(), train_path, "train")
    assert export_dataset("train", tmp_path / "out.json") == {}
    assert (tmp_path / "out.json").read_bytes() == train_path.read_bytes()


def test_another_layout_unknown_keys_and_their_order(tmp_path: Path) -> None:
    raw = raw_instance(6, {"x": [1], "y": [2, 3]}, ["y"], synthetic=True, reviewer={"b": [1, None], "a": 0.5})
    shuffled = {key: raw[key] for key in reversed(raw)}
    shuffled["sentence_index2aspects"] = dict(reversed(shuffled["sentence_index2aspects"].items()))
    raws = {"z": shuffled, "a": raw}
    lines = "".join(json.dumps({name: one}) + "\n" for name, one in raws.items())
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    ingest(open_store(), tmp_path / "in.jsonl", "in")
    export_dataset("in", tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text() == json.dumps(raws, indent=4)


def test_papers_whose_licence_allows_no_changed_copy_are_left_out_and_named(tmp_path: Path) -> None:
    licences = ("CC BY", "CC-BY 4.0", "", None, "CC BY-NC-ND", "All rights reserved")
    raws = {
        name: raw_instance(6, {"x": [1]}, [], construction={"version": 1, "paper_licence": licence})
        for name, licence in zip("abcdef", licences, strict=True)
    }
    ingest(open_store(), written(raws, tmp_path / "in.json"))
    left_out = export_dataset("in", tmp_path / "out.json")
    assert list(json.loads((tmp_path / "out.json").read_text())) == ["a", "b", "c", "d"]
    assert left_out == {"e": "CC BY-NC-ND", "f": "All rights reserved"}
    ingest(open_store(), written({"e": raws["e"]}, tmp_path / "closed.json"))
    with pytest.raises(SettingError, match="CC BY-NC-ND"):
        export_dataset("closed", tmp_path / "out.json")
