"""The released datasets: where they are, under which terms, and how they are fetched."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import DataError, SettingError, UnknownNameError, did_you_mean, shown

BytesDone = Callable[[int, int | None], object]
_T = TypeVar("_T")

_GITHUB: Final = "https://raw.githubusercontent.com/EvidenceBench/EvidenceBench"
_ON_HUB: Final = "EvidenceBench/EvidenceBench-100k"
_TIMEOUT: Final = 30.0  # seconds without a byte
_AGAIN: Final = "Check the network, then start the download again."


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a released dataset."""

    filename: str
    licence: str
    git_blob: str = ""  # git's id of the content, of those on GitHub; the others are on the hub
    folder: str = "datasets"  # on GitHub


@dataclass(frozen=True, slots=True)
class RemoteDataset:
    """A released dataset."""

    page: str  # where it is described
    splits: Mapping[str, RemoteFile]


_TABLE: Final = Path(__file__).with_name("datasets.json").read_bytes()
_LOG: Final = RemoteFile(
    "logs.csv", "MIT", "40035f038b640eb2f8772bf9bfde11db7307a583", "Evaluation/post_process"
)
DATASETS: Final = TypeAdapter(dict[str, RemoteDataset]).validate_json(_TABLE)


def download(
    name: str,
    split: str | None = None,
    folder: Path | None = None,
    *,
    report: Callable[[str], object] = lambda _: None,
    progress: BytesDone = lambda *_: None,
) -> tuple[Path, ...]:
    """Fetch the files of a released dataset, in the order of its splits; those that are there already are only checked.

    Without ``split`` it is all of them, without ``folder`` they go beside the default store. ``report`` is given the
    licence of each file before it is fetched, ``progress`` its bytes done and bytes in all, or ``None``.
    ``EVIDENCEBENCH_DOWNLOAD_BASE`` and ``HF_ENDPOINT`` stand for GitHub's and the hub's own addresses.
    """
    dataset = _entry_of("dataset", name, DATASETS)
    files = dataset.splits if split is None else {split: _entry_of(f"split of {name}", split, dataset.splits)}
    paths = []
    for file in files.values():
        report(f"{file.filename}: licence {file.licence}, from {dataset.page}")
        paths.append(_fetched(file, folder, progress))
    return tuple(paths)


def download_log(folder: Path | None = None) -> Path:
    """Fetch the authors' log of their systems on the test set, which `runs.official` reads."""
    return _fetched(_LOG, folder, lambda *_: None)


def _fetched(file: RemoteFile, folder: Path | None, progress: BytesDone) -> Path:
    import httpx
    import platformdirs

    folder = folder or platformdirs.user_data_path("evidencebench", appauthor=False) / "downloads"
    fetch = _from_github if file.git_blob else _from_hub
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fetch(file, folder, progress)
    except (httpx.HTTPError, httpx.InvalidURL, OSError, SettingError) as error:  # the hub's are among them
        reason = str(error).split("\n")[0]
        raise DataError(file.filename, f"cannot be fetched ({reason})", _AGAIN) from error
    return folder / file.filename


def git_blob(path: Path) -> str:
    """Git's id of a file's content."""
    content = path.read_bytes()  # some megabytes
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _entry_of(noun: str, name: str, entries: Mapping[str, _T]) -> _T:
    if name not in entries:
        remedy = f"{did_you_mean(name, entries)}Known: {', '.join(entries)}."
        raise UnknownNameError(f"{noun} {shown(name)}", "cannot be downloaded", remedy)
    return entries[name]


def _from_github(file: RemoteFile, folder: Path, progress: BytesDone) -> None:
    import httpx

    target = folder / file.filename
    if target.exists():
        if git_blob(target) != file.git_blob:
            remedy = "Move it away, or name another folder."
            raise DataError(str(target), "is there already, with other content", remedy)
        return
    base = (os.environ.get("EVIDENCEBENCH_DOWNLOAD_BASE") or _GITHUB).rstrip("/")
    url = f"{base}/bf1d963/{file.folder}/{file.filename}"
    request = httpx.stream("GET", url, timeout=_TIMEOUT, follow_redirects=True)
    with request as response, whole_file(target) as stream:
        response.raise_for_status()
        for chunk in response.iter_bytes():
            stream.write(chunk)
            progress(stream.tell(), None)
        stream.flush()
        if git_blob(Path(stream.name)) != file.git_blob:
            raise DataError(url, "sent something else than expected", _AGAIN)


def _from_hub(file: RemoteFile, folder: Path, progress: BytesDone) -> None:
    """By the hub's client, which resumes what was cut off and compares what it knows of the file."""
    from huggingface_hub import hf_hub_download
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        def update(self, n: float | None = 1) -> bool | None:
            self.n += n or 0
            total: Any = self.total
            progress(int(self.n), total)
            return None

        def display(self, *_: Any, **__: Any) -> None: ...
        def close(self) -> None: ...

    hub = os.environ.get("HF_ENDPOINT")
    hf_hub_download(
        _ON_HUB,
        file.filename,
        repo_type="dataset",
        local_dir=folder,
        endpoint=hub,
        token=False,
        tqdm_class=Bar,
    )
