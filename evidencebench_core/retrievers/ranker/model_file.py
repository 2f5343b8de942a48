"""A `RankerModel` as a file: JSON with LightGBM's model text in it, checked while it is read."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.retrievers.ranker.features import FEATURES, VERSION
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    N_TOPICS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
    Selecting,
    TrainedOn,
)
from evidencebench_core.retrievers.ranker.trees import Trees

FORMAT: Final = "evidencebench-ranker 2"
_REMEDY: Final = "Train the model again: evidencebench train-ranker."
_LARGEST: Final = 200 * 2**20
_LARGEST_WIDTH: Final = 65_536
_LARGEST_NUMBER: Final = 1e12


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
    """Write a model, whole or not at all.

    Returns
    -------
    str
        Its digest.

    Raises
    ------
    RetrieverError
        If the place cannot be written to.
    """
    content = (json.dumps(_document(model), ensure_ascii=False, indent=None) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise RetrieverError(
            str(path), f"cannot be written ({error.strerror})", "Name another file: --out FILE."
        ) from error
    return _digest(content)


def read_model(path: Path) -> tuple[RankerModel, str]:
    """The model of a file, checked, and its digest.

    Raises
    ------
    RetrieverError
        If the file is not there, is no model, or is one of another version.
    """
    try:
        status = path.stat()
        if status.st_size > _LARGEST:
            raise RetrieverError(str(path), f"has {status.st_size:,} bytes, too many for a model", _REMEDY)
        return _model_in(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise RetrieverError(
            str(path),
            f"cannot be read as a trained ranker ({error.strerror})",
            "Train one: evidencebench train-ranker --dataset NAME, or use the retriever structure, "
            "which needs no training.",
        ) from error


@lru_cache(maxsize=4)
def _model_in(path: Path, _modified: int, _size: int) -> tuple[RankerModel, str]:
    content = path.read_bytes()
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
    trained_on, selecting = model.trained_on, model.selecting
    return {
        "format": FORMAT,
        "features_version": VERSION,
        "columns": COLUMNS,
        "encoder": model.encoder,
        "encoder_identity": model.encoder_identity,
        "notes": dict(model.notes),
        "trained_on": {name: getattr(trained_on, name) for name in TrainedOn.__slots__},
        "selecting": {name: getattr(selecting, name) for name in Selecting.__slots__},
        "focuses": {
            focus: {
                "weights": dict(one.weights),
                "features": _arrays(one.features),
                "embedding": _arrays(one.embedding),
                "trees": {name: trees.text for name, trees in one.trees.items()},
            }
            for focus, one in model.focuses.items()
        },
        "topics": _arrays(model.topics),
        "shared_topics": _arrays(model.shared_topics),
    }


def _arrays(part: Linear | Projection) -> dict[str, object]:
    return {name: getattr(part, name).tolist() for name in type(part).__slots__}


# -- reading: whatever is not as it is written is refused with a ValueError ------------------------------


def _model(raw: object) -> RankerModel:
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = raw.get("format") if isinstance(raw, dict) else raw
        if isinstance(found, str) and found.startswith("evidencebench-ranker "):
            raise ValueError(
                f"was trained by another version of this program ({shown(found)}, not {FORMAT!r})"
            )
        raise ValueError(f"is no trained ranker: {shown(found)}")
    if raw.get("features_version") != VERSION or raw.get("columns") != list(COLUMNS):
        raise ValueError("was trained on features that this version does not compute")
    trained_on, selecting = _mapping(raw, "trained_on"), _mapping(raw, "selecting")
    focuses = _mapping(raw, "focuses")
    if "all" not in focuses or not set(focuses) <= {"all", "results"}:
        raise ValueError("lacks the model for all aspects")
    topics = _projection(_mapping(raw, "topics"), None)
    width = len(topics.mean)
    return RankerModel(
        encoder=_text(raw, "encoder"),
        encoder_identity=_text(raw, "encoder_identity"),
        topics=topics,
        shared_topics=_projection(_mapping(raw, "shared_topics"), width),
        focuses={cast("Focus", focus): _focus_model(_mapping(focuses, focus), width) for focus in focuses},
        selecting=Selecting(*(_amount(selecting, name) for name in Selecting.__slots__)),
        trained_on=TrainedOn(
            _text(trained_on, "dataset"),
            _text(trained_on, "dataset_sha256"),
            _texts(trained_on, "instance_ids"),
            _texts(trained_on, "paper_ids"),
        ),
        notes=_mapping(raw, "notes"),
    )


def _focus_model(raw: Mapping[str, Any], width: int) -> FocusModel:
    trees, weights = _mapping(raw, "trees"), _mapping(raw, "weights")
    if set(weights) != {*trees, "features", "embedding"} or not trees or len(trees) > 8:
        raise _refusal("weights", weights)
    amounts = {member: _amount(weights, member) for member in weights}
    if not sum(amounts.values()):
        raise _refusal("weights", weights)
    return FocusModel(
        trees={member: Trees(_text(trees, member), len(COLUMNS)) for member in trees},
        features=_linear(_mapping(raw, "features"), len(FEATURES)),
        embedding=_linear(_mapping(raw, "embedding"), 3 * width),
        weights=amounts,
    )


def _linear(raw: Mapping[str, Any], n: int) -> Linear:
    return Linear(_numbers(raw.get("weights"), "weights", n), _numbers(raw.get("means"), "means", n))


def _projection(raw: Mapping[str, Any], width: int | None) -> Projection:
    mean, axes = _numbers(raw.get("mean"), "mean", width), raw.get("axes")
    if not isinstance(axes, list) or len(axes) != N_TOPICS:
        raise _refusal("axes", axes)
    rows = np.stack([_numbers(axis, "axes", len(mean)) for axis in axes])
    return Projection(mean.astype(np.float32), rows.astype(np.float32))


def _refusal(name: str, value: object) -> ValueError:
    return ValueError(f"has {shown(value)} as {name!r}")


def _mapping(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(value := raw.get(name), dict):
        raise _refusal(name, value)
    return value


def _text(raw: Mapping[str, Any], name: str) -> str:
    if not isinstance(value := raw.get(name), str):
        raise _refusal(name, value)
    return value


def _texts(raw: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if not isinstance(value := raw.get(name), list) or not all(isinstance(one, str) for one in value):
        raise _refusal(name, value)
    return tuple(value)


def _amount(raw: Mapping[str, Any], name: str) -> float:
    if type(value := raw.get(name)) not in (int, float) or not 0 <= cast("float", value) <= 1e6:
        raise _refusal(name, value)
    return float(cast("float", value))


def _numbers(value: object, name: str, n: int | None) -> NDArray[np.float64]:
    if not isinstance(value, list) or not 0 < len(value) <= _LARGEST_WIDTH or n not in (None, len(value)):
        raise _refusal(name, value)
    # NaN is in no range
    if not all(type(one) in (int, float) and -_LARGEST_NUMBER <= one <= _LARGEST_NUMBER for one in value):
        raise _refusal(name, value)
    return np.array(value, dtype=np.float64)
