"""``ingest``, ``download`` and ``datasets``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.factories import raw_instance, tiny_dataset, written

MODULE = import_module("evidencebench_core.data.download")


def test_ingest_says_what_came_in_and_again_that_nothing_did(
    command, tiny_file: Path, tmp_path: Path
) -> None:
    assert "Ingested tiny: 6 instances" in command("ingest", tiny_file).out
    assert "already" in command("ingest", tiny_file).out
    known = command.json("ingest", tiny_file)
    assert known["added"] is False
    assert command.json("datasets") == [known["dataset"]]
    other = command.json("ingest", tiny_file, "--name", "six", "--store", tmp_path / "other.sqlite")
    assert (other["added"], other["dataset"]["name"]) == (True, "six")


def test_a_bad_file_leaves_the_store_as_it_was(command, tiny: Path, tmp_path: Path) -> None:
    broken = tiny_dataset()
    broken["tiny_5"]["aspect2sentence_indices"]["method"] = [99]
    printed = command("ingest", written(broken, tmp_path / "broken.json"))
    assert (printed.code, printed.out) == (1, "")
    line = printed.err.strip().splitlines()[-1]
    assert "tiny_5.aspect2sentence_indices" in line
    assert "99" in line
    assert [dataset["name"] for dataset in command.json("datasets")] == ["tiny"]


def test_datasets(command, tiny_file: Path, tmp_path: Path) -> None:
    printed = command("datasets")
    assert (printed.code, printed.out) == (0, "")
    assert "evidencebench ingest FILE" in printed.err
    invented = {"made_up": raw_instance(5, {"a": [3]}, synthetic=True)}
    for file in (tiny_file, written(invented, tmp_path / "invented.json")):
        command("ingest", file)
    assert [dataset["synthetic"] for dataset in command.json("datasets")] == [False, True]
    assert [line.split()[:5] for line in command("datasets").out.splitlines()[1:]] == [
        ["tiny", "6", "6", "5", "real"],
        ["invented", "1", "1", "0", "synthetic"],
    ]


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch, tiny_file: Path) -> list[tuple[Any, ...]]:
    """What the data room was asked to fetch; it always has ``tiny_file``."""
    calls: list[tuple[Any, ...]] = []

    def download(name: str, split: str | None, folder: Path | None, **rest: Any) -> tuple[Path, ...]:
        calls.append((name, split, folder, rest["base_url"]))
        rest["report"]("licence CC BY 4.0\x1b, 3 bytes")
        for done in (1, 2, 3):
            rest["progress"](done, 3)
        return (tiny_file,)

    monkeypatch.setattr(MODULE, "download", download)
    return calls


def test_download_prints_the_licence_first_and_the_files_at_the_end(
    command, downloads, tiny_file: Path
) -> None:
    printed = command("download", "evidencebench")
    assert printed.code == 0
    assert "licence CC BY 4.0[U+001B], 3 bytes" in printed.err
    assert printed.out.splitlines()[0] == str(tiny_file)
    assert f"evidencebench ingest {tiny_file}" in printed.out
    assert downloads == [("evidencebench", None, None, None)]
    assert command.json("datasets") == []


def test_download_and_ingest(command, downloads, tiny_file: Path, tmp_path: Path) -> None:
    words = ("--split", "dev", "--folder", tmp_path, "--base-url", "http://localhost:9", "--ingest")
    document = command.json("download", "x", *words)
    assert downloads == [("x", "dev", tmp_path, "http://localhost:9")]
    assert document["files"] == [str(tiny_file)]
    assert document["datasets"] == command.json("datasets")


def test_a_server_that_is_not_there(command, tmp_path: Path) -> None:
    words = ("download", "evidencebench", "--split", "dev", "--folder", tmp_path / "new")
    printed = command(*words, "--base-url", "http://127.0.0.1:9")
    assert (printed.code, printed.out) == (1, "")
    last = printed.err.splitlines()[-1]
    assert last.startswith("evidencebench: ")
    assert "http://127.0.0.1:9" in last
    assert not [path for path in (tmp_path / "new").iterdir() if not path.name.endswith(".part")]
