"""``ingest``, ``download`` and ``datasets``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.factories import raw_instance, tiny_dataset, written

MODULE = import_module("evidencebench_core.data.download")


def test_ingest_says_what_came_in_and_again_that_nothing_did(command, tiny_file: Path) -> None:
    first, again = command("ingest", tiny_file), command("ingest", tiny_file)
    assert (first.code, again.code) == (0, 0)
    assert "Ingested tiny: 6 instances" in first.out
    assert "already" in again.out
    known = command("ingest", tiny_file, "--json").document
    assert known["added"] is False
    assert command("datasets", "--json").document == [known["dataset"]]


def test_ingest_under_another_name(command, tiny_file: Path) -> None:
    document = command("ingest", tiny_file, "--name", "six", "--json").document
    assert (document["added"], document["dataset"]["name"]) == (True, "six")


def test_a_bad_file_leaves_the_store_as_it_was(command, tiny: Path, tmp_path: Path) -> None:
    broken = tiny_dataset()
    broken["tiny_5"]["aspect2sentence_indices"]["method"] = [99]
    printed = command("ingest", written(broken, tmp_path / "broken.json"))
    assert printed.code == 1
    assert printed.out == ""
    line = printed.err.strip().splitlines()[-1]
    assert "tiny_5.aspect2sentence_indices" in line
    assert "99" in line
    assert [dataset["name"] for dataset in command("datasets", "--json").document] == ["tiny"]


def test_datasets(command, tiny: Path, tmp_path: Path) -> None:
    invented = {"made_up": raw_instance(5, {"a": [3]}, synthetic=True)}
    command("ingest", written(invented, tmp_path / "invented.json"))
    assert [d["synthetic"] for d in command("datasets", "--json").document] == [False, True]
    assert [line.split()[:5] for line in command("datasets").out.splitlines()[1:]] == [
        ["tiny", "6", "6", "5", "real"],
        ["invented", "1", "1", "0", "synthetic"],
    ]


def test_no_datasets_yet_says_what_to_do(command) -> None:
    printed = command("datasets")
    assert (printed.code, printed.out) == (0, "")
    assert "evidencebench ingest FILE" in printed.err
    assert command("datasets", "--json").document == []


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


def test_download_and_ingest(command, fetched, tiny_file: Path, tmp_path: Path) -> None:
    words = ("--split", "dev", "--folder", tmp_path, "--base-url", "http://localhost:9")
    document = command("download", "x", *words, "--ingest", "--json").document
    assert fetched == [{"name": "x", "split": "dev", "folder": tmp_path, "base_url": "http://localhost:9"}]
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
