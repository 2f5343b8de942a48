"""Datasets back to the benchmark's JSON."""

import hashlib
import io
import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest, instance_from, open_store
from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import SettingError
from evidencebench_core.export import BenchmarkFile, stream_dataset, write_benchmark
from tests.factories import raw_instance, written


@pytest.fixture
def store() -> Store:
    return open_store()


def export_dataset(store: Store, name: str, path: Path) -> BenchmarkFile:
    info = store.dataset(name)
    with whole_file(path) as stream:
        return stream_dataset(store, info, stream)


@pytest.mark.realdata
def test_the_released_train_file_comes_back_byte_for_byte(
    store: Store, train_path: Path, tmp_path: Path
) -> None:
    info = ingest(store, train_path, "train").dataset
    out = tmp_path / "out.json"
    result = export_dataset(store, "train", out)
    assert out.read_bytes() == train_path.read_bytes()
    assert (result.n_instances, result.sha256) == (96, info.sha256)


def test_another_layout_unknown_keys_and_their_order(store: Store, tmp_path: Path) -> None:
    raw = raw_instance(6, {"x": [1], "y": [2, 3]}, ["y"], synthetic=True, reviewer={"b": [1, None], "a": 0.5})
    shuffled = {key: raw[key] for key in reversed(raw)}
    shuffled["sentence_index2aspects"] = dict(reversed(shuffled["sentence_index2aspects"].items()))
    raws = {"z": shuffled, "a": raw}
    lines = "".join(json.dumps({name: one}) + "\n" for name, one in raws.items())
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")
    ingest(store, tmp_path / "in.jsonl", "in")
    result = export_dataset(store, "in", tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text() == json.dumps(raws, indent=4)
    assert result.sha256 == hashlib.sha256((tmp_path / "out.json").read_bytes()).hexdigest()


def test_papers_whose_licence_allows_no_changed_copy_are_left_out_and_named(
    store: Store, tmp_path: Path
) -> None:
    licences = ("CC BY", "CC-BY 4.0", "", None, "CC BY-NC-ND", "All rights reserved")
    raws = {
        name: raw_instance(6, {"x": [1]}, [], construction={"version": 1, "paper_licence": licence})
        for name, licence in zip("abcdef", licences, strict=True)
    }
    ingest(store, written(raws, tmp_path / "in.json"))
    file = export_dataset(store, "in", tmp_path / "out.json")
    assert list(json.loads((tmp_path / "out.json").read_text())) == ["a", "b", "c", "d"]
    assert file.left_out == {"e": "CC BY-NC-ND", "f": "All rights reserved"}


def test_instances_of_any_format_are_written() -> None:
    good = raw_instance(4, {"x": [1]})
    first, second = (instance_from(name, good) for name in "ab")
    stream = io.BytesIO()
    result = write_benchmark([first, second], stream)
    assert stream.getvalue() == json.dumps({"a": good, "b": good}, indent=4).encode()
    assert result.n_instances == 2
    with pytest.raises(SettingError, match="twice"):
        write_benchmark([first, first], io.BytesIO())
    with pytest.raises(SettingError, match="none"):
        write_benchmark([], io.BytesIO())
