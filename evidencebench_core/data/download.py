"""The released datasets: where they are, under which terms, and how they are fetched."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from evidencebench_core.data.fetch import TIMEOUT, Checksum, Progress, Report, fetch, status_error
from evidencebench_core.errors import DownloadError, UnknownNameError, did_you_mean, shown

_T = TypeVar("_T")

GITHUB: Final = "https://raw.githubusercontent.com/EvidenceBench/EvidenceBench"
COMMIT: Final = "bf1d963"
HUGGING_FACE: Final = "https://huggingface.co"
_REFS: Final = (COMMIT, "main")  # whichever answers: what is accepted is told by the blob id
_HUB_REPOSITORY: Final = "EvidenceBench/EvidenceBench-100k"
_NC_SA: Final = "CC BY-NC-SA 4.0"
_BY: Final = "CC BY 4.0"
_NC: Final = "CC BY-NC 4.0"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a released dataset; ``git_blob`` is the id of the content we know, if we know it."""

    filename: str
    licence: str
    git_blob: str | None = None


@dataclass(frozen=True, slots=True)
class RemoteDataset:
    """A released dataset: its files by split, and where it is described."""

    name: str
    host: Literal["github", "huggingface"]
    page: str
    splits: Mapping[str, RemoteFile]


_SPLITS: Final = {
    "train": RemoteFile("evidencebench_train_set.json", _NC_SA, "6d3b1987bfbdb058ec4ac4f1cdb94a5b4777868d"),
    "dev": RemoteFile("evidencebench_dev_set.json", _NC_SA, "189700f6f467e280ff233c82f1697fb7ceb11a79"),
    "test": RemoteFile("evidencebench_test_set.json", _BY, "df380a1ba1359f9cea8bca2f2298dc9fd99e6513"),
}
_SPLITS_100K: Final = {
    "train": RemoteFile("evidencebench_100k_train_set.json", _NC),
    "test": RemoteFile("evidencebench_100k_test_set.json", _NC),
}
_PAGE: Final = "https://github.com/EvidenceBench/EvidenceBench"
_PAGE_100K: Final = f"https://huggingface.co/datasets/{_HUB_REPOSITORY}"
DATASETS: Final[Mapping[str, RemoteDataset]] = MappingProxyType(
    {
        dataset.name: dataset
        for dataset in (
            RemoteDataset("evidencebench", "github", _PAGE, MappingProxyType(_SPLITS)),
            RemoteDataset("evidencebench-100k", "huggingface", _PAGE_100K, MappingProxyType(_SPLITS_100K)),
        )
    }
)


def download_folder() -> Path:
    """Where downloads go if no folder is named: beside the default store."""
    import platformdirs

    return platformdirs.user_data_path("evidencebench", appauthor=False) / "downloads"


def download(
    name: str,
    split: str | None = None,
    folder: Path | None = None,
    *,
    base_url: str | None = None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Fetch the files of a released dataset; those that are there already are only checked.

    Parameters
    ----------
    name, split : str
        A name of `DATASETS`, and one of its splits; all of them if left out.
    folder : Path, optional
        Made if need be; `download_folder` if left out.
    base_url : str, optional
        Instead of GitHub's or the hub's own address: everything before ``/<commit>/datasets/...``,
        or the hub's endpoint. ``EVIDENCEBENCH_DOWNLOAD_BASE`` and ``HF_ENDPOINT`` do the same.
    report : callable, optional
        Given lines of text for the user: the licence before anything is fetched, then the size.
    progress : callable, optional
        Called with bytes done of the file at hand and bytes in all, or ``None``.

    Returns
    -------
    tuple of Path
        The files, in the order of the splits.

    Raises
    ------
    UnknownNameError
        If there is no such dataset or split.
    DownloadError
        If a file could not be fetched whole. Nothing stands under its final name; what came is kept
        as ``<name>.part`` and continued by the next call, unless it was wrong.
    """
    dataset = _entry("dataset", name, DATASETS)
    files = dataset.splits if split is None else {split: _entry(f"split of {name}", split, dataset.splits)}
    folder = download_folder() if folder is None else folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise DownloadError(str(folder), problem, "Name another folder.") from error
    paths = []
    for file in files.values():
        if report is not None:
            report(f"{file.filename}: licence {file.licence}, from {dataset.page}")
        target = folder / file.filename
        locate = _on_github if dataset.host == "github" else _on_hub
        urls, expected = locate(file, base_url)
        if not _there_already(target, expected, report):
            for url in urls:  # from the first that does not answer 404
                try:
                    fetch(url, target, expected, report, progress)
                    break
                except DownloadError as error:
                    if url == urls[-1] or "answers 404" not in error.problem:
                        raise
        paths.append(target)
    return tuple(paths)


def _entry(what: str, name: str, known: Mapping[str, _T]) -> _T:
    if name not in known:
        remedy = f"{did_you_mean(name, known)}Known: {', '.join(known)}."
        raise UnknownNameError(f"{what} {shown(name)}", "cannot be downloaded", remedy)
    return known[name]


def _there_already(target: Path, expected: Checksum | None, report: Report | None) -> bool:
    if not target.exists():
        return False
    if expected is not None and not expected.matches(target):
        remedy = "Move it away, or name another folder."
        raise DownloadError(str(target), "is there already, with other content", remedy)
    if report is not None:
        report(f"{target.name}: there already, {'not checked' if expected is None else 'and whole'}")
    return True


def _on_github(file: RemoteFile, base_url: str | None) -> tuple[list[str], Checksum | None]:
    base = (base_url or os.environ.get("EVIDENCEBENCH_DOWNLOAD_BASE") or GITHUB).rstrip("/")
    expected = None if file.git_blob is None else Checksum("git-blob", file.git_blob)
    return [f"{base}/{ref}/datasets/{file.filename}" for ref in _REFS], expected


def _on_hub(file: RemoteFile, base_url: str | None) -> tuple[list[str], Checksum | None]:
    """The commit that the hub would serve, and what the file must hash to.

    The file itself is fetched like any other: the hub's own download starts over after an interruption.
    """
    import httpx
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError

    def address(revision: str | None = None) -> str:
        endpoint = (base_url or os.environ.get("HF_ENDPOINT") or HUGGING_FACE).rstrip("/")
        return hf_hub_url(
            _HUB_REPOSITORY, file.filename, repo_type="dataset", endpoint=endpoint, revision=revision
        )

    url = address()
    # The hub's package raises errors of httpx or httpx2, whichever it uses: its own is one of them.
    unreachable: tuple[type[Exception], ...] = (httpx.InvalidURL, HfHubHTTPError.mro()[1], OSError)
    try:
        httpx.URL(url)
        metadata = get_hf_file_metadata(url, timeout=TIMEOUT, token=False)
    except HfHubHTTPError as error:
        raise status_error(url, error.response.status_code, error.response.reason_phrase) from error
    except unreachable as error:
        problem = f"cannot be reached ({str(error) or type(error).__name__})"
        raise DownloadError(url, problem, "Check the network, then try again.") from error
    digest = metadata.etag or ""
    expected = Checksum("git-blob", digest) if re.fullmatch("[0-9a-f]{40}", digest) else None
    if re.fullmatch("[0-9a-f]{64}", digest):
        expected = Checksum("sha256", digest)
    return [address(metadata.commit_hash or "main")], expected
