"""A `RankerModel` as a file: JSON with LightGBM's model text in it, checked while it is read."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.retrievers.ranker.features import VERSION
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    N_STYLES,
    N_TOPICS,
    NETWORK_COLUMNS,
    NETWORK_FOCUSES,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
)
from evidencebench_core.retrievers.ranker.network import Network
from evidencebench_core.retrievers.ranker.selection import Selecting
from evidencebench_core.retrievers.ranker.trees import Trees
from evidencebench_core.retrievers.trained_on import TrainedOn
from evidencebench_core.words import clipped_text

FORMAT: Final = "evidencebench-ranker 6"
_REMEDY: Final = "Train the model again: evidencebench train-ranker."
_LARGEST: Final = 64 * 2**20  # bytes; one that train-ranker writes has three million
_MOST_UNITS: Final = 4_096
_LEAST_WEIGHT: Final = 1e-6  # of all members: scores are divided by it


def default_model_path() -> Path:
    """Where ``train-ranker`` writes and the retriever looks: the user data folder, or EVIDENCEBENCH_RANKER."""
    if named := os.environ.get("EVIDENCEBENCH_RANKER"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("evidencebench-explorer", appauthor=False)) / "ranker.json"


def trained_model() -> tuple[RankerModel, str] | None:
    """The model that ``evidence-ranker`` would use, and its digest; ``None`` while there is none to be read."""
    path = default_model_path()
    try:
        return read_model(path) if path.is_file() else None
    except RetrieverError:
        return None


def default_retriever() -> Literal["evidence-ranker", "structure"]:
    """The retriever that is asked where nobody chose one: ``"structure"`` until a model is trained."""
    return "structure" if trained_model() is None else "evidence-ranker"


def write_model(model: RankerModel, path: Path) -> str:
    """Write a model, whole or not at all; its digest."""
    content = (json.dumps(_document(model), ensure_ascii=False) + "\n").encode()
    with whole_file(path, make_folder=True) as stream:
        stream.write(content)
    return _digest(content)


def read_model(path: Path) -> tuple[RankerModel, str]:
    """The model of a file, checked, and its digest."""
    place = clipped_text(str(path), 300)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise RetrieverError(place, "is not a regular file", _REMEDY)
        if status.st_size > _LARGEST:
            raise RetrieverError(place, f"has {status.st_size:,} bytes, too many for a model", _REMEDY)
        return _model_in(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError) as error:  # no path has a NUL
        raise RetrieverError(
            place,
            f"cannot be read as a trained ranker ({getattr(error, 'strerror', error)})",
            "Train one: evidencebench train-ranker --dataset NAME, or use the retriever structure, "
            "which needs no training.",
        ) from error


@lru_cache(maxsize=4)
def _model_in(path: Path, _modified: int, _size: int) -> tuple[RankerModel, str]:
    with path.open("rb") as stream:
        content = stream.read(_LARGEST)  # it may have grown, and files of /proc have no size
    try:
        return _model(json.loads(content)), _digest(content)
    except RecursionError:
        raise RetrieverError(str(path), "is not JSON (it is nested too deeply)", _REMEDY) from None
    except json.JSONDecodeError as error:
        raise RetrieverError(str(path), f"is not JSON ({error})", _REMEDY) from error
    except ValueError as error:
        raise RetrieverError(str(path), str(error), _REMEDY) from error


def _digest(content: bytes) -> str:
    """Part of the id of the model's runs."""
    return hashlib.sha256(content).hexdigest()[:12]


def _document(model: RankerModel) -> dict[str, object]:
    return {
        "format": FORMAT,
        "features_version": VERSION,
        "columns": COLUMNS,
        "encoder": model.encoder,
        "encoder_identity": model.encoder_identity,
        "notes": dict(model.notes),
        "trained_on": asdict(model.trained_on),
        "selecting": asdict(model.selecting),
        "focuses": {
            focus: {
                "weights": dict(one.weights),
                "embedding": _arrays(one.embedding),
                "trees": {name: trees.text for name, trees in one.trees.items()},
            }
            for focus, one in model.focuses.items()
        },
        "topics": _arrays(model.topics),
        "shared_topics": _arrays(model.shared_topics),
        "styles": _arrays(model.styles),
        "network": _arrays(model.network),
    }


def _arrays(part: Linear | Projection | Network) -> dict[str, object]:
    return {name: getattr(part, name).tolist() for name in type(part).__slots__}


# -- reading: whatever is not as it is written is refused with a ValueError ------------------------------

_NUMBER: Final = (-1e12, 1e12)
_AMOUNT: Final = (0.0, 1e6)
_LINEAR: Final = {"weights": [_NUMBER], "means": [_NUMBER]}
_PROJECTION: Final = {"mean": [_NUMBER], "axes": [[_NUMBER]]}
_SHAPE: Final = {
    "encoder": str,
    "encoder_identity": str,
    "notes": dict,
    "trained_on": {"dataset": str, "dataset_sha256": str, "instance_ids": [str], "paper_ids": [str]},
    "selecting": {"sharpness": _AMOUNT, "closeness": _AMOUNT, "reach": _AMOUNT},
    "focuses": {...: {"weights": {...: _AMOUNT}, "embedding": _LINEAR, "trees": {...: str}}},
    "topics": _PROJECTION,
    "shared_topics": _PROJECTION,
    "styles": _PROJECTION,
    "network": {
        **{name: [_NUMBER] for name in ("means", "scales", "bias")},
        **{name: [[_NUMBER]] for name in ("hidden", "out", "linear")},
    },
}
"""A type, bounds of a number, a list of one shape, or a mapping: of these keys, or of any (``...``)."""


def _check(value: Any, shape: Any, name: str) -> None:
    if isinstance(shape, dict):
        fits = isinstance(value, dict)
        for key in (value if ... in shape else shape) if fits else ():
            _check(value.get(key), shape.get(key, shape.get(...)), key)
    elif isinstance(shape, list):
        fits = isinstance(value, list)
        for one in value if fits else ():
            _check(one, shape[0], name)
    elif isinstance(shape, tuple):  # NaN is within no bounds
        fits = type(value) in (int, float) and shape[0] <= value <= shape[1]
    else:
        fits = isinstance(value, shape)
    if not fits:
        raise ValueError(f"has {shown(value)} as {shown(name)}")


def _model(raw: Any) -> RankerModel:
    file_format = raw.get("format") if isinstance(raw, dict) else None
    if file_format != FORMAT:
        if isinstance(file_format, str) and file_format.startswith("evidencebench-ranker "):
            raise ValueError(
                f"was trained by another version of this program ({shown(file_format)}, not {FORMAT!r})"
            )
        raise ValueError("is no trained ranker")  # what else it is, is nobody's business here
    if raw.get("features_version") != VERSION or raw.get("columns") != list(COLUMNS):
        raise ValueError("was trained on features that this version does not compute")
    _check(raw, _SHAPE, "model")
    if "all" not in raw["focuses"] or not set(raw["focuses"]) <= {"all", "results"}:
        raise ValueError("lacks the model for all aspects")
    width, on = len(raw["topics"]["mean"]), raw["trained_on"]
    return RankerModel(
        encoder=raw["encoder"],
        encoder_identity=raw["encoder_identity"],
        topics=_projection(raw["topics"], width),
        shared_topics=_projection(raw["shared_topics"], width),
        styles=_projection(raw["styles"], width, N_STYLES),
        network=_network(raw["network"]),
        focuses={focus: _focus_model(one, width) for focus, one in raw["focuses"].items()},
        selecting=Selecting(**{name: float(raw["selecting"][name]) for name in Selecting.__slots__}),
        trained_on=TrainedOn(
            on["dataset_sha256"], tuple(on["instance_ids"]), tuple(on["paper_ids"]), on["dataset"]
        ),
        notes=raw["notes"],
    )


def _focus_model(raw: Any, width: int) -> FocusModel:
    trees, weights = raw["trees"], raw["weights"]
    members = {*trees, "embedding", "network"}
    if not 0 < len(trees) <= 8 or set(weights) != members or sum(weights.values()) < _LEAST_WEIGHT:
        raise ValueError(f"has {shown(weights)} as 'weights'")
    return FocusModel(
        trees={member: Trees(text, len(COLUMNS)) for member, text in trees.items()},
        embedding=_linear(raw["embedding"], 3 * width),
        weights={member: float(weight) for member, weight in weights.items()},
    )


def _linear(raw: Any, n: int) -> Linear:
    if len(raw["weights"]) != n or len(raw["means"]) != n:
        raise ValueError(f"has a linear model that is not of {n} numbers")
    return Linear(np.array(raw["weights"], dtype=float), np.array(raw["means"], dtype=float))


def _network(raw: Any) -> Network:
    n_columns, n_units, n_outputs = len(NETWORK_COLUMNS), len(raw["bias"]), len(NETWORK_FOCUSES)
    arrays = {
        name: np.array(raw[name], dtype=float) if _even(raw[name]) else np.zeros(0)
        for name in Network.__slots__
    }
    shapes = {
        **dict.fromkeys(("means", "scales"), (n_columns,)),
        "hidden": (n_columns, n_units),
        "bias": (n_units,),
        "out": (n_units, n_outputs),
        "linear": (n_columns, n_outputs),
    }
    if (
        not 0 < n_units <= _MOST_UNITS
        or {name: one.shape for name, one in arrays.items()} != shapes
        or (arrays["scales"] <= 0).any()
    ):
        raise ValueError(
            f"has a network that is not of {n_columns} columns, {n_units} units, {n_outputs} outputs"
        )
    return Network(**arrays)


def _even(rows: list[Any]) -> bool:
    """Whether a list, if it is one of lists, holds lists of one length."""
    return len({len(row) if isinstance(row, list) else -1 for row in rows}) == 1


def _projection(raw: Any, width: int, n_axes: int = N_TOPICS) -> Projection:
    if not width or {len(raw["mean"]), *map(len, raw["axes"])} != {width} or len(raw["axes"]) != n_axes:
        raise ValueError(f"has a projection that is not of {n_axes} axes of {width} numbers")
    return Projection(np.array(raw["mean"], dtype=np.float32), np.array(raw["axes"], dtype=np.float32))
