"""A `Ranker` as a folder: ``ranker.json``, and ``arrays.npz``, which is never unpickled; checked while it is read."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    FOCUSES,
    N_TOPICS,
    Network,
    Projection,
    Ranker,
)
from evidencebench_core.retrievers.trained_on import TrainedOn

_FORMAT: Final = "evidencebench-ranker 7"
_LARGEST: Final = 64 * 2**20  # bytes of either file
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
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **_arrays(ranker))
    document = {
        "format": _FORMAT,
        "columns": COLUMNS,
        "encoder": ranker.encoder,
        "encoder_identity": ranker.encoder_identity,
        "trees": dict(ranker.trees),
        "trained_on": asdict(ranker.trained_on),
        "notes": dict(ranker.notes),
        "arrays_sha256": hashlib.sha256(stream.getvalue()).hexdigest(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / "arrays.npz") as file:
        file.write(stream.getvalue())
    content = (json.dumps(document, indent=1) + "\n").encode()
    with whole_file(folder / "ranker.json") as file:
        file.write(content)
    return _digest(content)


def read_model(folder: Path) -> tuple[Ranker, str]:
    """The model of a folder, checked, and its digest.

    Raises
    ------
    RetrieverError
        If there is none, or it is not as `write_model` writes it.
    """
    try:
        files = tuple(folder / name for name in ("ranker.json", "arrays.npz"))
        status = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in files)
        if any(size > _LARGEST for _, size in status):
            raise ValueError("it is too large")
        return _read(folder, status)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
        raise RetrieverError(
            str(folder), f"cannot be read as a trained ranker ({reason})", _REMEDY
        ) from error


@lru_cache(maxsize=4)
def _read(folder: Path, _status: tuple[tuple[int, int], ...]) -> tuple[Ranker, str]:
    content, packed = (folder / "ranker.json").read_bytes(), (folder / "arrays.npz").read_bytes()
    raw: dict[str, Any] = json.loads(content)
    if raw["format"] != _FORMAT or raw["columns"] != list(COLUMNS):
        raise ValueError("it was trained by another version of this program")
    if raw["arrays_sha256"] != hashlib.sha256(packed).hexdigest():
        raise ValueError("arrays.npz does not belong to ranker.json")
    with np.load(io.BytesIO(packed), allow_pickle=False) as kept:
        arrays = {name: np.asarray(kept[name], dtype=np.float32) for name in kept.files}
    _check_shapes(arrays)
    on = raw["trained_on"]
    ranker = Ranker(
        encoder=str(raw["encoder"]),
        encoder_identity=str(raw["encoder_identity"]),
        topics=Projection(*(arrays[f"topics.{name}"] for name in Projection._fields)),
        shared_topics=Projection(*(arrays[f"shared_topics.{name}"] for name in Projection._fields)),
        network=Network(*(arrays[f"network.{name}"] for name in Network._fields)),
        trained_on=TrainedOn(
            on["dataset_sha256"], tuple(on["instance_ids"]), tuple(on["paper_ids"]), on["dataset"]
        ),
        trees={focus: str(raw["trees"][focus]) for focus in FOCUSES},
        notes=dict(raw["notes"]),
    )
    return ranker, _digest(content)


def _arrays(ranker: Ranker) -> dict[str, NDArray[np.float32]]:
    parts: dict[str, Projection | Network] = {
        "topics": ranker.topics,
        "shared_topics": ranker.shared_topics,
        "network": ranker.network,
    }
    return {
        f"{part}.{name}": np.asarray(array, dtype=np.float32)
        for part, arrays in parts.items()
        for name, array in arrays._asdict().items()
    }


def _check_shapes(arrays: dict[str, NDArray[np.float32]]) -> None:
    n_columns, n_units, width = len(COLUMNS), arrays["network.bias"].size, arrays["topics.mean"].size
    shapes = {
        **dict.fromkeys(("topics.mean", "shared_topics.mean"), (width,)),
        **dict.fromkeys(("topics.axes", "shared_topics.axes"), (N_TOPICS, width)),
        **dict.fromkeys(("network.means", "network.scales"), (n_columns,)),
        "network.hidden": (n_columns, n_units),
        "network.bias": (n_units,),
        "network.out": (n_units, len(FOCUSES)),
        "network.linear": (n_columns, len(FOCUSES)),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is not an array of {shape} finite numbers")
    if (arrays["network.scales"] <= 0).any():
        raise ValueError("network.scales has numbers that are not above 0")


def _digest(content: bytes) -> str:
    """Part of the id of the model's runs."""
    return hashlib.sha256(content).hexdigest()[:12]
