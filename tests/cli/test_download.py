from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

MODULE = import_module("evidencebench_core.data.download")


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tiny_file: Path) -> list[dict[str, Any]]:
    """What the data room was asked to fetch; it always has ``tiny_file``."""
    calls: list[dict[str, Any]] = []

    def download(name: str, split: str | None, folder: Path | None, **rest: Any) -> tuple[Path, ...]:
        calls.append({"name": name, "split": split, "folder": folder, "base_url": rest["base_url"]})
        rest["report"]("licence CC BY 4.0\x1b, 3 bytes")
        for done in (1, 2, 3):
            rest["progress"](done, 3)
        return (tiny_file,)

    monkeypatch.setattr(MODULE, "download", download)
    return calls


def test_download_prints_the_licence_first_and_the_files_at_the_end(
    command, fetched, tiny_file: Path
) -> None:
    printed = command("download", "evidencebench")
    assert printed.code == 0
    assert r"licence CC BY 4.0\x1b, 3 bytes" in printed.err
    assert printed.out.splitlines()[0] == str(tiny_file)
    assert f"evidencebench ingest {tiny_file}" in printed.out
    assert fetched == [{"name": "evidencebench", "split": None, "folder": None, "base_url": None}]
    assert command("datasets", "--json").document == []


def test_everything_can_be_said(command, fetched, tmp_path: Path) -> None:
    command("download", "x", "--split", "dev", "--folder", tmp_path, "--base-url", "http://localhost:9")
    assert fetched == [{"name": "x", "split": "dev", "folder": tmp_path, "base_url": "http://localhost:9"}]


def test_download_and_ingest(command, fetched, tiny_file: Path) -> None:
    document = command("download", "evidencebench", "--ingest", "--json").document
    assert document["files"] == [str(tiny_file)]
    assert [dataset["name"] for dataset in document["datasets"]] == ["tiny"]
    assert len(command("datasets", "--json").document) == 1


def test_an_unknown_dataset_names_those_there_are(command) -> None:
    printed = command("download", "evidencebench-10k")
    assert (printed.code, printed.out) == (1, "")
    assert printed.err.count("\n") == 1
    assert "evidencebench-100k" in printed.err


def test_a_server_that_is_not_there(command, tmp_path: Path) -> None:
    words = ("download", "evidencebench", "--split", "dev", "--folder", tmp_path / "new")
    printed = command(*words, "--base-url", "http://127.0.0.1:9")
    assert (printed.code, printed.out) == (1, "")
    assert printed.err.splitlines()[-1].startswith("evidencebench: ")
    assert "http://127.0.0.1:9" in printed.err.splitlines()[-1]
    assert not [path for path in (tmp_path / "new").iterdir() if not path.name.endswith(".part")]
