"""The released datasets: where they are, under which terms, and how they are fetched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import DownloadError, SettingError, UnknownNameError, did_you_mean, shown

BytesDone = Callable[[int, int | None], None]
_T = TypeVar("_T")

_GITHUB: Final = "https://raw.githubusercontent.com/EvidenceBench/EvidenceBench"
_REF: Final = "bf1d963"
_HUB_REPOSITORY: Final = "EvidenceBench/EvidenceBench-100k"
_TIMEOUT: Final = 30.0  # seconds without a byte
_AGAIN: Final = "Check the network, then start the download again."


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a released dataset."""

    filename: str
    licence: str
    git_blob: str = ""  # git's id of the content, of those on GitHub


@dataclass(frozen=True, slots=True)
class RemoteDataset:
    """A released dataset."""

    page: str  # where it is described
    splits: Mapping[str, RemoteFile]


def _silent(*_: object) -> None:
    """Report nothing."""


def _files(pattern: str, *files: tuple[str, str, str]) -> dict[str, RemoteFile]:
    return {split: RemoteFile(pattern.format(split), licence, blob) for split, licence, blob in files}


DATASETS: Final[Mapping[str, RemoteDataset]] = {
    "evidencebench": RemoteDataset(
        "https://github.com/EvidenceBench/EvidenceBench",
        _files(
            "evidencebench_{}_set.json",
            ("train", "CC BY-NC-SA 4.0", "6d3b1987bfbdb058ec4ac4f1cdb94a5b4777868d"),
            ("dev", "CC BY-NC-SA 4.0", "189700f6f467e280ff233c82f1697fb7ceb11a79"),
            ("test", "CC BY 4.0", "df380a1ba1359f9cea8bca2f2298dc9fd99e6513"),
        ),
    ),
    "evidencebench-100k": RemoteDataset(
        f"https://huggingface.co/datasets/{_HUB_REPOSITORY}",
        _files("evidencebench_100k_{}_set.json", ("train", "CC BY-NC 4.0", ""), ("test", "CC BY-NC 4.0", "")),
    ),
}


def download_folder() -> Path:
    """Where downloads go if no folder is named: beside the default store."""
    import platformdirs

    return platformdirs.user_data_path("evidencebench", appauthor=False) / "downloads"


def download(
    name: str,
    split: str | None = None,
    folder: Path | None = None,
    *,
    report: Callable[[str], None] = _silent,
    progress: BytesDone = _silent,
) -> tuple[Path, ...]:
    """Fetch the files of a released dataset, in the order of its splits; those that are there already are only checked.

    Each of ``split`` and ``folder`` may be left out: all splits, `download_folder`. ``report`` is given the licence of
    each file before anything is fetched, ``progress`` bytes done of the file at hand and bytes in all, or ``None``.
    ``EVIDENCEBENCH_DOWNLOAD_BASE`` and ``HF_ENDPOINT`` stand for GitHub's and the hub's own addresses.

    `DownloadError` if a file could not be fetched whole: nothing stands under its final name.
    """
    dataset = _entry("dataset", name, DATASETS)
    files = dataset.splits if split is None else {split: _entry(f"split of {name}", split, dataset.splits)}
    folder = download_folder() if folder is None else folder
    for file in files.values():
        report(f"{file.filename}: licence {file.licence}, from {dataset.page}")
        if file.git_blob:
            _from_github(file, folder / file.filename, progress)
        else:
            _from_hub(file, folder, progress)
    return tuple(folder / file.filename for file in files.values())


def git_blob(path: Path) -> str:
    """Git's id of a file's content."""
    content = path.read_bytes()  # some megabytes
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _entry(noun: str, name: str, entries: Mapping[str, _T]) -> _T:
    if name not in entries:
        remedy = f"{did_you_mean(name, entries)}Known: {', '.join(entries)}."
        raise UnknownNameError(f"{noun} {shown(name)}", "cannot be downloaded", remedy)
    return entries[name]


def _from_github(file: RemoteFile, target: Path, progress: BytesDone) -> None:
    import httpx

    if target.exists():
        if git_blob(target) != file.git_blob:
            remedy = "Move it away, or name another folder."
            raise DownloadError(str(target), "is there already, with other content", remedy)
        return
    base = (os.environ.get("EVIDENCEBENCH_DOWNLOAD_BASE") or _GITHUB).rstrip("/")
    url = f"{base}/{_REF}/datasets/{file.filename}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        request = httpx.stream("GET", url, timeout=_TIMEOUT, follow_redirects=True)
        with request as response, whole_file(target) as stream:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                stream.write(chunk)
                progress(stream.tell(), None)
            stream.flush()
            if git_blob(Path(stream.name)) != file.git_blob:
                raise DownloadError(url, "sent something else than expected", _AGAIN)
    except (httpx.HTTPError, httpx.InvalidURL, OSError, SettingError) as error:
        raise DownloadError(url, f"cannot be fetched ({error})", _AGAIN) from error


def _from_hub(file: RemoteFile, folder: Path, progress: BytesDone) -> None:
    """By the hub's client, which resumes what was cut off and compares what it knows of the file."""
    import httpx
    from huggingface_hub import hf_hub_download

    try:
        hf_hub_download(
            _HUB_REPOSITORY,
            file.filename,
            repo_type="dataset",
            local_dir=folder,
            endpoint=os.environ.get("HF_ENDPOINT"),
            token=False,
            tqdm_class=_bar(progress),
        )
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:  # the hub's own errors are among them
        reason = str(error).split("\n")[0]
        raise DownloadError(file.filename, f"cannot be fetched ({reason})", _AGAIN) from error


def _bar(progress: BytesDone) -> Any:
    """A bar of tqdm that draws nothing and reports."""
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})
            self.done, self.size = int(options.get("initial") or 0), options.get("total")

        def update(self, n: float | None = 1) -> bool | None:
            self.done += int(n or 0)
            progress(self.done, self.size)
            return None

    return Bar
