"""A `Ranker` as a folder with the file ``ranker.json``."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranker.model import COLUMNS, FOCUSES, Network, Projection, Ranker
from evidencebench_core.retrievers.trained_on import trained_on_of

_FILE: Final = "ranker.json"
_FORMAT: Final = "evidencebench-ranker 8"
_PARTS: Final = ("topics", "shared_topics", "network")
_REMEDY: Final = "Train one: evidencebench train-ranker --dataset NAME, or use the retriever structure."


def default_model_path() -> Path:
    """Where ``train-ranker`` writes: the user's data folder, or EVIDENCEBENCH_RANKER."""
    if named := os.environ.get("EVIDENCEBENCH_RANKER"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("evidencebench", appauthor=False)) / "ranker"


def model_folder(name: str) -> Path:
    """The folder of a model by its setting; ``default`` is the one trained here last."""
    return default_model_path() if name == "default" else Path(name).expanduser()


def trained_model() -> tuple[Ranker, str] | None:
    """The model that ``evidence-ranker`` would use, and its digest; ``None`` while there is none."""
    try:
        return read_model(model_folder("default"))
    except RetrieverError:
        return None


def write_model(ranker: Ranker, folder: Path) -> str:
    """Write a model; its digest."""
    document = {
        "format": _FORMAT,
        "columns": COLUMNS,
        "encoder": ranker.encoder,
        "encoder_identity": ranker.encoder_identity,
        **{part: _packed(getattr(ranker, part)) for part in _PARTS},
        "trees": {focus: ranker.trees[focus] for focus in FOCUSES},
        "trained_on": asdict(ranker.trained_on),
        "notes": {**ranker.notes},
    }
    content = (json.dumps(document, indent=1) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / _FILE) as file:
        file.write(content)
    return _digest(content)


def read_model(folder: Path) -> tuple[Ranker, str]:
    """The model of a folder and its digest; `RetrieverError` if there is none that this version has written."""
    try:
        status = (folder / _FILE).stat()
        return _read(folder / _FILE, (status.st_mtime_ns, status.st_size))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
        raise RetrieverError(
            str(folder), f"cannot be read as a trained ranker ({reason})", _REMEDY
        ) from error


@lru_cache(maxsize=4)
def _read(path: Path, _status: tuple[int, int]) -> tuple[Ranker, str]:
    content = path.read_bytes()
    raw: dict[str, Any] = json.loads(content)
    if raw["format"] != _FORMAT or raw["columns"] != list(COLUMNS):
        raise ValueError("it was trained by another version of this program")
    ranker = Ranker(
        encoder=raw["encoder"],
        encoder_identity=raw["encoder_identity"],
        topics=Projection(**_unpacked(raw["topics"])),
        shared_topics=Projection(**_unpacked(raw["shared_topics"])),
        network=Network(**_unpacked(raw["network"])),
        trees=raw["trees"],
        trained_on=trained_on_of(raw["trained_on"]),
        notes=raw["notes"],
    )
    return ranker, _digest(content)


def _packed(part: Projection | Network) -> dict[str, dict[str, object]]:
    """Arrays by name, each as its shape and the base64 of its little-endian numbers."""
    return {
        name: {"shape": array.shape, "float32": b64encode(array.astype("<f4").tobytes()).decode()}
        for name, array in part._asdict().items()
    }


def _unpacked(part: Mapping[str, Mapping[str, Any]]) -> dict[str, NDArray[np.float32]]:
    return {
        name: np.frombuffer(b64decode(array["float32"]), dtype="<f4").reshape(array["shape"])
        for name, array in part.items()
    }


def _digest(content: bytes) -> str:
    """Part of the id of the model's runs."""
    return hashlib.sha256(content).hexdigest()[:12]
