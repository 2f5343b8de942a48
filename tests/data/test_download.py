"""Whole, wrong, missing: nothing ever stands under the final name but the right file."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

import pytest

from evidencebench_core.data.downloads import DATASETS, download, git_blob
from evidencebench_core.errors import DataError, UnknownNameError
from tests.conftest import real_file
from tests.llm.server import Handler, Reply, serving

module = import_module("evidencebench_core.data.downloads")  # the package has the function under that name

CONTENT = bytes(range(256)) * 2_000  # 512,000 bytes
BLOB = hashlib.sha1(b"blob 512000\0" + CONTENT, usedforsecurity=False).hexdigest()
GITHUB_TEST = "/bf1d963/datasets/evidencebench_test_set.json"
HUB_COMMIT = "0123456789abcdef0123456789abcdef01234567"
HUB_TEST = "/datasets/EvidenceBench/EvidenceBench-100k/resolve/{}/evidencebench_100k_test_set.json"


@dataclass
class Server:
    """What it has, and what it was asked for."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    sent: int | None = None  # bytes after which the connection drops
    asked: list[str] = field(default_factory=list)

    def answer(self, request: Handler) -> Reply:
        self.asked.append(request.path)
        if request.path not in self.files:
            return 404, {"Content-Length": "0"}, b""
        content = self.files[request.path]
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        headers = {"Content-Length": str(len(content)), "ETag": etag, "X-Repo-Commit": HUB_COMMIT}
        request.close_connection = True
        return 200, headers, content[: self.sent]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """GitHub and the hub; the small dataset has a content that tests can have."""
    server, real = Server(), DATASETS["evidencebench"]
    splits = {name: replace(file, git_blob=BLOB) for name, file in real.splits.items()}
    monkeypatch.setattr(module, "DATASETS", {**DATASETS, "evidencebench": replace(real, splits=splits)})
    with serving(server.answer) as address:
        monkeypatch.setenv("EVIDENCEBENCH_DOWNLOAD_BASE", f"{address}/")
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield server


@pytest.mark.realdata
def test_the_train_set_has_the_blob_id_we_check(train_path: Path) -> None:
    assert DATASETS["evidencebench"].splits["train"].git_blob == git_blob(train_path)
    assert module._LOG.git_blob == git_blob(real_file("evidencebench/official_logs.csv"))


def test_the_log_of_the_authors_is_checked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files = {"/bf1d963/Evaluation/post_process/logs.csv": CONTENT}
    with pytest.raises(DataError):
        module.download_log(tmp_path)
    monkeypatch.setattr(module, "_LOG", replace(module._LOG, git_blob=BLOB))
    assert module.download_log(tmp_path).read_bytes() == CONTENT


def test_all_splits_licence_first(server: Server, tmp_path: Path) -> None:
    server.files = {GITHUB_TEST.replace("test", split): CONTENT for split in ("train", "dev", "test")}
    lines: list[str] = []
    seen: list[int] = []
    folder = tmp_path / "deep" / "folder"
    watched = {"report": lines.append, "progress": lambda done, _: seen.append(done)}
    paths = download("evidencebench", None, folder, **watched)
    assert [path.name for path in paths] == [f"evidencebench_{s}_set.json" for s in ("train", "dev", "test")]
    assert all(path.read_bytes() == CONTENT for path in paths)
    assert sorted(folder.iterdir()) == sorted(paths)
    licences = [line.split("licence ")[1].split(",")[0] for line in lines]
    assert licences == ["CC BY-NC-SA 4.0", "CC BY-NC-SA 4.0", "CC BY 4.0"]
    assert seen.count(512_000) == 3
    server.asked.clear()
    assert download("evidencebench", folder=folder) == paths
    assert server.asked == []  # what is there and whole is not fetched again


def test_from_the_hub(server: Server, tmp_path: Path) -> None:
    server.files = {HUB_TEST.format(ref): CONTENT for ref in ("main", HUB_COMMIT)}
    seen: list[tuple[int, int | None]] = []
    (path,) = download("evidencebench-100k", "test", tmp_path, progress=lambda *n: seen.append(n))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (512_000, 512_000)
    assert download("evidencebench-100k", "test", tmp_path) == (path,)


def test_names_and_places_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'evidencebench-100k"):
        download("evidencebench100k", folder=tmp_path)
    with pytest.raises(UnknownNameError, match="Known: train, test"):
        download("evidencebench-100k", "dev", tmp_path)
    path = tmp_path / "evidencebench_dev_set.json"
    path.write_text("mine")
    for folder in (tmp_path, path):  # a file with other content, and what is no folder
        with pytest.raises(DataError):
            download("evidencebench", "dev", folder)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("files", "sent", "base"),
    [
        ({}, None, ""),
        ({GITHUB_TEST: CONTENT + b"!"}, None, ""),
        ({GITHUB_TEST: CONTENT}, 1000, ""),
        ({}, None, "http://127.0.0.1:port"),
    ],
)
@pytest.mark.parametrize("dataset", ["evidencebench", "evidencebench-100k"])
def test_failures_leave_nothing(
    server: Server, tmp_path: Path, dataset: str, files: dict[str, bytes], sent: int | None, base: str
) -> None:
    server.files, server.sent = files, sent
    if base:  # server sets it back
        os.environ["EVIDENCEBENCH_DOWNLOAD_BASE"] = base
    with pytest.raises(DataError) as caught:
        download(dataset, "test", tmp_path)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.glob("*.json*")) == []
