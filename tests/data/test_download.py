"""Whole, resumed, cut off, wrong, missing: nothing ever stands under the final name but the right file."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from evidencebench_core.data.download import COMMIT, DATASETS, download, download_folder
from evidencebench_core.data.fetch import Checksum, fetch
from evidencebench_core.errors import DownloadError, UnknownNameError
from tests.serving import DRIPS, Answer, dripping, serving

module = import_module("evidencebench_core.data.download")  # the package has the function under that name

CONTENT = bytes(range(256)) * 2_000  # 512,000 bytes
BLOB = hashlib.sha1(b"blob 512000\0" + CONTENT, usedforsecurity=False).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HUB_COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Behaviour:
    """What the server does, and what it was asked."""

    base: str = ""
    files: dict[str, bytes] = field(default_factory=lambda: {"/x": CONTENT})
    etag: str = '"v1"'
    ranges: bool = True
    cut_after: int | None = None  # bytes after which the connection drops
    length: bool = True
    status: int | None = None
    asked: list[tuple[str, str, str | None, str | None]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    redirect: dict[str, str] = field(default_factory=dict)

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        wanted, condition = request.headers.get("Range"), request.headers.get("If-Range")
        self.asked.append((request.command, request.path, wanted, condition))
        if request.path in self.redirect:
            return 307, {"Location": self.redirect[request.path], "Content-Length": "0"}, b""
        if self.status is not None or request.path not in self.files:
            return self.status or 404, {}, b""
        content = self.files[request.path]
        size, same = len(content), condition in (None, self.etag)
        start = int(wanted[6:-1]) if wanted and self.ranges and same else 0
        if start >= size:
            return 416, {"Content-Range": f"bytes */{size}", "Content-Length": "0"}, b""
        headers = {"ETag": self.etag, **self.headers}
        if start:
            headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        if self.length:
            headers["Content-Length"] = str(size - start)
        request.close_connection = True
        end = size if self.cut_after is None else min(size, start + self.cut_after)
        return 206 if start else 200, headers, content[start:end]


@pytest.fixture
def does() -> Iterator[Behaviour]:
    behaviour = Behaviour()
    with serving(behaviour.answer) as behaviour.base:
        yield behaviour


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data.json"


def part(target: Path) -> Path:
    return target.with_name("data.json.part")


def failure(url: str, target: Path, expected: Checksum | None, said: str) -> None:
    with pytest.raises(DownloadError, match=said) as caught:
        fetch(url, target, expected)
    assert "\n" not in str(caught.value)
    assert not target.exists()


EXPECTED = [Checksum("git-blob", BLOB), Checksum("sha256", SHA256.upper()), None]


@pytest.mark.parametrize("expected", EXPECTED)
def test_whole(does: Behaviour, target: Path, expected: Checksum | None) -> None:
    said: list[str] = []
    seen: list[tuple[int, int | None]] = []
    fetch(f"{does.base}/x", target, expected, report=said.append, progress=lambda *n: seen.append(n))
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == ["data.json"]
    assert said == ["data.json: 512,000 bytes"]
    assert seen[-1] == (512_000, 512_000)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"', ""])
def test_resumed_after_a_cut(does: Behaviour, target: Path, etag: str) -> None:
    does.cut_after, does.etag = 200_000, etag
    for done in (200_000, 400_000):
        failure(f"{does.base}/x", target, EXPECTED[0], f"broke off after {done:,} .*goes on where it stopped")
        assert part(target).read_bytes() == CONTENT[:done]
    said: list[str] = []
    fetch(f"{does.base}/x", target, EXPECTED[0], report=said.append)
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == ["data.json"]
    assert said == ["data.json: 512,000 bytes, going on from 400,000"]
    condition = etag if etag.startswith('"') else None  # a weak tag does not vouch for bytes
    ranges = [(None, None), ("bytes=200000-", condition), ("bytes=400000-", condition)]
    assert [asked[2:] for asked in does.asked] == ranges


def test_a_cut_that_the_server_does_not_admit(does: Behaviour, target: Path) -> None:
    # Without a length the end of the connection is the end of the file, so only the hash tells.
    does.length, does.cut_after = False, 1000
    failure(f"{does.base}/x", target, EXPECTED[0], "sent something else than expected")
    assert list(target.parent.iterdir()) == []
    does.cut_after = None
    said: list[str] = []
    fetch(f"{does.base}/x", target, EXPECTED[0], report=said.append)
    assert said == ["data.json: unknown size"]


def test_another_version_on_the_server(does: Behaviour, target: Path) -> None:
    does.files["/x"], does.cut_after = b"old" * 1000, 1000
    failure(f"{does.base}/x", target, EXPECTED[0], "broke off")
    does.files["/x"], does.cut_after, does.etag = CONTENT, None, '"v2"'
    fetch(f"{does.base}/x", target, EXPECTED[0])  # If-Range: the server sends the whole file
    assert target.read_bytes() == CONTENT
    does.ranges = False  # a server that ignores ranges
    part(target).write_bytes(b"something longer than nothing")
    target.unlink()
    fetch(f"{does.base}/x", target, EXPECTED[0])
    assert target.read_bytes() == CONTENT


def test_a_part_that_is_too_long(does: Behaviour, target: Path) -> None:
    part(target).write_bytes(CONTENT)  # everything was there but the move
    fetch(f"{does.base}/x", target, EXPECTED[0])
    assert target.read_bytes() == CONTENT
    target.unlink()
    part(target).write_bytes(CONTENT + b"more")
    failure(f"{does.base}/x", target, EXPECTED[0], "has no byte 512,004")
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("expected", EXPECTED[:2])
def test_wrong_content(does: Behaviour, target: Path, expected: Checksum) -> None:
    does.files["/x"] = CONTENT[:-1] + b"!"
    failure(f"{does.base}/x", target, expected, f"its {expected.kind} hash is not")
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("status", [404, 403, 500, 503])
def test_refused(does: Behaviour, target: Path, status: int) -> None:
    does.status = status
    part(target).write_bytes(CONTENT[:10])
    failure(f"{does.base}/x", target, EXPECTED[0], f"answers {status} ")
    assert part(target).read_bytes() == CONTENT[:10]  # it may still be of use


@pytest.mark.parametrize("head", DRIPS)
def test_a_download_that_drips_ends_at_its_limit(
    target: Path, head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidencebench_core.data.fetch._PATIENCE", 0.3)
    with dripping(head) as address:
        failure(address, target, None, "took longer than 0.3 seconds|sends less than 4,096 bytes a second")


def test_a_download_has_a_size_limit(does: Behaviour, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidencebench_core.data.fetch._MOST_BYTES", 1_000)
    failure(f"{does.base}/x", target, None, "sends more than 1,000 bytes")
    does.length = False
    failure(f"{does.base}/x", target, None, "sends more than 1,000 bytes")


def test_addresses_where_nobody_is(target: Path) -> None:
    failure("http://127.0.0.1:9/x", target, EXPECTED[0], "broke off after 0 bytes")
    for url in ("ftp://127.0.0.1/x", "x", "http://[::1", "http://127.0.0.1:port/"):
        failure(url, target, None, ".")
        with pytest.raises(DownloadError):
            download("evidencebench-100k", "test", target.parent, base_url=url)


def test_interrupted_by_the_user(does: Behaviour, target: Path) -> None:
    def interrupt(done: int, _: int | None) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(f"{does.base}/x", target, EXPECTED[0], progress=interrupt)
    assert not target.exists()
    assert part(target).stat().st_size > 100_000
    fetch(f"{does.base}/x", target, EXPECTED[0])
    assert target.read_bytes() == CONTENT


@pytest.mark.realdata
def test_the_train_set_has_the_blob_id_we_check(train_path: Path) -> None:
    blob = DATASETS["evidencebench"].splits["train"].git_blob
    assert blob is not None
    assert Checksum("git-blob", blob).matches(train_path)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The released datasets with content that tests can have."""
    real = DATASETS["evidencebench"]
    splits = {name: replace(file, git_blob=BLOB) for name, file in real.splits.items()}
    changed = {**DATASETS, "evidencebench": replace(real, splits=MappingProxyType(splits))}
    monkeypatch.setattr(module, "DATASETS", changed)


def github_path(split: str, ref: str = COMMIT) -> str:
    return f"/{ref}/datasets/evidencebench_{split}_set.json"


@pytest.mark.usefixtures("known")
def test_all_splits_licence_first(does: Behaviour, tmp_path: Path) -> None:
    does.files = {github_path(split): CONTENT for split in ("train", "dev", "test")}
    said: list[str] = []
    folder = tmp_path / "deep" / "folder"
    paths = download("evidencebench", folder=folder, base_url=does.base + "/", report=said.append)
    names = [f"evidencebench_{split}_set.json" for split in ("train", "dev", "test")]
    assert [path.name for path in paths] == names
    assert all(path.read_bytes() == CONTENT for path in paths)
    page = "https://github.com/EvidenceBench/EvidenceBench"
    kinds = ("-NC-SA", "-NC-SA", "")
    assert said[::2] == [
        f"{n}: licence CC BY{kind} 4.0, from {page}" for n, kind in zip(names, kinds, strict=True)
    ]
    assert said[1::2] == [f"{name}: 512,000 bytes" for name in names]
    does.asked.clear()
    assert download("evidencebench", folder=folder, base_url=does.base) == paths
    assert does.asked == []  # what is there and whole is not fetched again


@pytest.mark.usefixtures("known")
def test_base_from_the_environment_and_the_other_ref(
    does: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    does.files[github_path("dev", "main")] = CONTENT
    monkeypatch.setenv("EVIDENCEBENCH_DOWNLOAD_BASE", does.base)
    (path,) = download("evidencebench", "dev", tmp_path)
    assert path.read_bytes() == CONTENT
    assert [asked[1] for asked in does.asked] == [github_path("dev"), github_path("dev", "main")]


@pytest.mark.usefixtures("known")
def test_a_file_in_the_way_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "evidencebench_dev_set.json"
    path.write_text("mine")
    with pytest.raises(DownloadError, match="is there already, with other content"):
        download("evidencebench", "dev", tmp_path, base_url="http://127.0.0.1:9")
    assert path.read_text() == "mine"


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'evidencebench100k': .* Did you mean 'evidencebench-100k"):
        download("evidencebench100k", folder=tmp_path)
    with pytest.raises(UnknownNameError, match=r"split of evidencebench-100k 'dev': .* Known: train, test"):
        download("evidencebench-100k", "dev", tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(DownloadError, match="cannot be made"):
        download("evidencebench", "dev", tmp_path / "file" / "folder")
    assert download_folder().name == "downloads"


HUB = "/datasets/EvidenceBench/EvidenceBench-100k/resolve"
HUB_FILE = "evidencebench_100k_test_set.json"


def hub(does: Behaviour, content: bytes) -> None:
    """The hub names commit and hash in its first answer and sends the content from elsewhere."""
    does.files = {f"{HUB}/main/{HUB_FILE}": b"a pointer", "/elsewhere": content}
    does.redirect = {f"{HUB}/{HUB_COMMIT}/{HUB_FILE}": "/elsewhere"}
    does.headers = {"X-Repo-Commit": HUB_COMMIT, "X-Linked-Etag": f'"{SHA256}"'}


@pytest.mark.parametrize("by_argument", [True, False])
def test_from_the_hub(
    does: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_argument: bool
) -> None:
    hub(does, CONTENT)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9" if by_argument else does.base)
    said: list[str] = []
    where = {"base_url": does.base} if by_argument else {}
    does.cut_after = 300_000
    with pytest.raises(DownloadError, match="broke off after 300,000"):
        download("evidencebench-100k", "test", tmp_path, report=said.append, **where)
    assert [path.name for path in tmp_path.glob("*.json")] == []
    does.cut_after = None
    (path,) = download("evidencebench-100k", "test", tmp_path, report=said.append, **where)
    assert path.read_bytes() == CONTENT
    assert said[0].startswith(f"{HUB_FILE}: licence CC BY-NC 4.0, from https://huggingface.co/datasets/")
    assert said[-1] == f"{HUB_FILE}: 512,000 bytes, going on from 300,000"
    assert download("evidencebench-100k", "test", tmp_path, report=said.append, **where) == (path,)
    assert said[-1] == f"{HUB_FILE}: there already, and whole"
    path.unlink()
    does.files["/new/name"] = b"a pointer"  # the hub has moved the repository
    does.redirect[f"{HUB}/main/{HUB_FILE}"] = "/new/name"
    assert download("evidencebench-100k", "test", tmp_path, **where) == (path,)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("dataset", "changes", "said"),
    [
        ("evidencebench", {"files": {}}, "answers 404"),
        ("evidencebench", {"files": {github_path("test"): CONTENT + b"!"}}, "something else than expected"),
        ("evidencebench-100k", {}, "its sha256 hash is not"),
        ("evidencebench-100k", {"status": 500}, "answers 500 "),
        ("evidencebench-100k", {"files": {}}, "answers 404 "),
        ("evidencebench-100k", {"base": "http://127.0.0.1:9"}, "cannot be reached"),
    ],
)
def test_failures_leave_nothing(
    does: Behaviour, tmp_path: Path, dataset: str, changes: dict[str, Any], said: str
) -> None:
    hub(does, CONTENT[::-1])
    for name, value in changes.items():
        setattr(does, name, value)
    with pytest.raises(DownloadError, match=said):
        download(dataset, "test", tmp_path, base_url=does.base)
    assert list(tmp_path.iterdir()) == []
