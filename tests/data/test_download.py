"""Whole, wrong, missing: nothing ever stands under the final name but the right file."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.download import DATASETS, download, download_folder, git_blob
from evidencebench_core.errors import DownloadError, UnknownNameError
from tests.serving import Answer, serving

module = import_module("evidencebench_core.data.download")  # the package has the function under that name

CONTENT = bytes(range(256)) * 2_000  # 512,000 bytes
BLOB = hashlib.sha1(b"blob 512000\0" + CONTENT, usedforsecurity=False).hexdigest()
HUB_COMMIT = "0123456789abcdef0123456789abcdef01234567"
HUB = "/datasets/EvidenceBench/EvidenceBench-100k/resolve"
HUB_FILE = "evidencebench_100k_test_set.json"


@dataclass
class Behaviour:
    """What the server does, and what it was asked."""

    base: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    status: int = 404  # where there is no file
    cut_after: int | None = None  # bytes after which the connection drops
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        wanted = request.headers.get("Range")
        self.asked.append((request.path, wanted))
        if request.path not in self.files:
            return self.status, {"Content-Length": "0"}, b""
        content = self.files[request.path]
        start = int(wanted[6:].split("-")[0]) if wanted else 0
        headers = {
            "Content-Length": str(len(content) - start),
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": HUB_COMMIT,
        }
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        request.close_connection = True
        end = len(content) if self.cut_after is None else start + self.cut_after
        return 206 if start else 200, headers, content[start:end]


@pytest.fixture
def does(monkeypatch: pytest.MonkeyPatch) -> Iterator[Behaviour]:
    behaviour = Behaviour()
    with serving(behaviour.answer) as behaviour.base:
        monkeypatch.setenv("EVIDENCEBENCH_DOWNLOAD_BASE", f"{behaviour.base}/")
        monkeypatch.setenv("HF_ENDPOINT", behaviour.base)
        yield behaviour


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The released datasets with content that tests can have; no waits between attempts."""
    real = DATASETS["evidencebench"]
    splits = {name: replace(file, git_blob=BLOB) for name, file in real.splits.items()}
    monkeypatch.setattr(module, "DATASETS", {**DATASETS, "evidencebench": replace(real, splits=splits)})


def github_path(split: str) -> str:
    return f"/bf1d963/datasets/evidencebench_{split}_set.json"


@pytest.mark.realdata
def test_the_train_set_has_the_blob_id_we_check(train_path: Path) -> None:
    assert DATASETS["evidencebench"].splits["train"].git_blob == git_blob(train_path)


def test_all_splits_licence_first(does: Behaviour, tmp_path: Path) -> None:
    does.files = {github_path(split): CONTENT for split in ("train", "dev", "test")}
    lines: list[str] = []
    seen: list[int] = []
    folder = tmp_path / "deep" / "folder"
    paths = download(
        "evidencebench", folder=folder, report=lines.append,
        progress=lambda done, _: seen.append(done),
    )  # fmt: skip
    assert [path.name for path in paths] == [f"evidencebench_{s}_set.json" for s in ("train", "dev", "test")]
    assert all(path.read_bytes() == CONTENT for path in paths)
    assert sorted(folder.iterdir()) == sorted(paths)
    assert [line.split("licence ")[1].split(",")[0] for line in lines] == [
        "CC BY-NC-SA 4.0",
        "CC BY-NC-SA 4.0",
        "CC BY 4.0",
    ]
    assert seen.count(512_000) == 3
    does.asked.clear()
    assert download("evidencebench", folder=folder) == paths
    assert does.asked == []  # what is there and whole is not fetched again


def test_a_file_in_the_way_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "evidencebench_dev_set.json"
    path.write_text("mine")
    with pytest.raises(DownloadError):
        download("evidencebench", "dev", tmp_path)
    assert path.read_text() == "mine"


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'evidencebench-100k"):
        download("evidencebench100k", folder=tmp_path)
    with pytest.raises(UnknownNameError, match="Known: train, test"):
        download("evidencebench-100k", "dev", tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(DownloadError):
        download("evidencebench", "dev", tmp_path / "file" / "folder")
    assert download_folder().name == "downloads"


def test_from_the_hub(does: Behaviour, tmp_path: Path) -> None:
    does.files = {f"{HUB}/{ref}/{HUB_FILE}": CONTENT for ref in ("main", HUB_COMMIT)}
    seen: list[tuple[int, int | None]] = []
    (path,) = download("evidencebench-100k", "test", tmp_path, progress=lambda *n: seen.append(n))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (512_000, 512_000)
    assert download("evidencebench-100k", "test", tmp_path) == (path,)


@pytest.mark.parametrize(
    ("dataset", "changes"),
    [
        ("evidencebench", {}),
        ("evidencebench", {"status": 500}),
        ("evidencebench", {"files": {github_path("test"): CONTENT + b"!"}}),
        ("evidencebench", {"files": {github_path("test"): CONTENT}, "cut_after": 1000}),
        ("evidencebench", {"base": "http://127.0.0.1:9"}),
        ("evidencebench", {"base": "http://127.0.0.1:port"}),
        ("evidencebench", {"base": "x"}),
        ("evidencebench-100k", {}),
    ],
)
def test_failures_leave_nothing(
    does: Behaviour, tmp_path: Path, dataset: str, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in changes.items():
        setattr(does, name, value)
    monkeypatch.setenv("EVIDENCEBENCH_DOWNLOAD_BASE", does.base)
    with pytest.raises(DownloadError) as caught:
        download(dataset, "test", tmp_path)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.glob("*.json*")) == []
