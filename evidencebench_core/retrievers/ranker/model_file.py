"""A `RankerModel` as a file: JSON that people can read, and whose reading runs nothing."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

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
from evidencebench_core.retrievers.ranker.trees import trees_from_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FORMAT", "default_model_path", "digest_of", "read_model", "write_model"]

FORMAT: Final = "evidencebench-ranker 1"
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


def digest_of(content: bytes) -> str:
    """Twelve hexadecimal digits of a model file's SHA-256; part of the id of its runs."""
    return hashlib.sha256(content).hexdigest()[:12]


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
    content = (json.dumps(_as_json(model), ensure_ascii=False, indent=None) + "\n").encode()
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
    return digest_of(content)


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
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise RetrieverError(
            str(path),
            f"cannot be read as a trained ranker ({error.strerror})",
            "Train one: evidencebench train-ranker --dataset NAME, or use the retriever structure, "
            "which needs no training.",
        ) from error


@lru_cache(maxsize=4)
def _read(path: Path, _modified: int, _size: int) -> tuple[RankerModel, str]:
    content = path.read_bytes()
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RetrieverError(str(path), f"is not JSON ({error})", _REMEDY) from error
    return _model(raw, str(path)), digest_of(content)


def _as_json(model: RankerModel) -> dict[str, object]:
    return {
        "format": FORMAT,
        "features_version": VERSION,
        "columns": list(COLUMNS),
        "encoder": model.encoder,
        "encoder_identity": model.encoder_identity,
        "notes": dict(model.notes),
        "trained_on": {
            "dataset": model.trained_on.dataset,
            "dataset_sha256": model.trained_on.dataset_sha256,
            "instance_ids": list(model.trained_on.instance_ids),
            "paper_ids": list(model.trained_on.paper_ids),
        },
        "selecting": {
            "sharpness": model.selecting.sharpness,
            "closeness": model.selecting.closeness,
            "reach": model.selecting.reach,
        },
        "focuses": {
            focus: {
                "weights": dict(one.weights),
                "features": _linear_as_json(one.features),
                "embedding": _linear_as_json(one.embedding),
                "trees": {name: trees.as_json() for name, trees in one.trees.items()},
            }
            for focus, one in model.focuses.items()
        },
        "topics": _projection_as_json(model.topics),
        "shared_topics": _projection_as_json(model.shared_topics),
    }


def _linear_as_json(linear: Linear) -> dict[str, list[float]]:
    return {"weights": linear.weights.tolist(), "means": linear.means.tolist()}


def _projection_as_json(projection: Projection) -> dict[str, object]:
    def short(values: NDArray[np.float32]) -> list[float]:
        return [float(f"{value:.5g}") for value in values.tolist()]

    return {"mean": short(projection.mean), "axes": [short(axis) for axis in projection.axes]}


def _model(raw: object, place: str) -> RankerModel:
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = raw.get("format") if isinstance(raw, dict) else raw
        raise RetrieverError(place, f"is no ranker of this program's kind: {shown(found)}", _REMEDY)
    if raw.get("features_version") != VERSION or raw.get("columns") != list(COLUMNS):
        raise RetrieverError(place, "was trained on features that this version does not compute", _REMEDY)
    reader = _Reader(place)
    trained, selecting = reader.mapping(raw, "trained_on"), reader.mapping(raw, "selecting")
    topics = reader.projection(raw, "topics")
    width = len(topics.mean)
    focuses = reader.mapping(raw, "focuses")
    if "all" not in focuses or not set(focuses) <= {"all", "results"}:
        raise RetrieverError(place, "lacks the model for all aspects", _REMEDY)
    return RankerModel(
        encoder=reader.text(raw, "encoder"),
        encoder_identity=reader.text(raw, "encoder_identity"),
        topics=topics,
        shared_topics=reader.projection(raw, "shared_topics", width),
        focuses={cast("Focus", focus): reader.focus(focuses, focus, width) for focus in focuses},
        selecting=Selecting(
            *(reader.number(selecting, name) for name in ("sharpness", "closeness", "reach"))
        ),
        trained_on=TrainedOn(
            reader.text(trained, "dataset"),
            reader.text(trained, "dataset_sha256"),
            reader.texts(trained, "instance_ids"),
            reader.texts(trained, "paper_ids"),
        ),
        notes=reader.mapping(raw, "notes"),
    )


class _Reader:
    """Knows the file's name, so that every refusal can tell it."""

    def __init__(self, place: str) -> None:
        self.place = place

    def refuse(self, name: str, value: object) -> RetrieverError:
        return RetrieverError(self.place, f"has {shown(value)} as {name!r}", _REMEDY)

    def mapping(self, raw: Mapping[str, Any], name: str) -> dict[str, Any]:
        value = raw.get(name)
        if not isinstance(value, dict):
            raise self.refuse(name, value)
        return value

    def text(self, raw: Mapping[str, Any], name: str) -> str:
        value = raw.get(name)
        if not isinstance(value, str):
            raise self.refuse(name, value)
        return value

    def texts(self, raw: Mapping[str, Any], name: str) -> tuple[str, ...]:
        value = raw.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.refuse(name, value)
        return tuple(value)

    def number(self, raw: Mapping[str, Any], name: str) -> float:
        value = raw.get(name)
        if type(value) not in (int, float) or not 0 <= cast("float", value) <= 1e6:
            raise self.refuse(name, value)
        return float(cast("float", value))

    def numbers(self, raw: Mapping[str, Any], name: str, n: int | None) -> NDArray[np.float64]:
        import numpy as np

        value = raw.get(name)
        if not isinstance(value, list) or not 0 < len(value) <= _LARGEST_WIDTH or n not in (None, len(value)):
            raise self.refuse(name, value)
        if not all(type(one) in (int, float) for one in value):
            raise self.refuse(name, value)
        try:
            found = np.array(value, dtype=np.float64)
        except OverflowError:
            raise self.refuse(name, value) from None
        if not (np.abs(found) <= _LARGEST_NUMBER).all():  # which NaN is not either
            raise self.refuse(name, value)
        return found

    def projection(self, raw: Mapping[str, Any], name: str, width: int | None = None) -> Projection:
        import numpy as np

        part = self.mapping(raw, name)
        mean = self.numbers(part, "mean", width)
        axes = part.get("axes")
        if not isinstance(axes, list) or len(axes) != N_TOPICS:
            raise self.refuse("axes", axes)
        rows = [self.numbers({"axes": axis}, "axes", len(mean)) for axis in axes]
        return Projection(mean.astype(np.float32), np.stack(rows).astype(np.float32))

    def linear(self, raw: Mapping[str, Any], name: str, n: int) -> Linear:
        part = self.mapping(raw, name)
        return Linear(self.numbers(part, "weights", n), self.numbers(part, "means", n))

    def focus(self, raw: Mapping[str, Any], name: str, width: int) -> FocusModel:
        part = self.mapping(raw, name)
        trees, weights = self.mapping(part, "trees"), self.mapping(part, "weights")
        if set(weights) != {*trees, "features", "embedding"} or not trees:
            raise self.refuse("weights", weights)
        return FocusModel(
            trees={
                member: trees_from_json(one, len(COLUMNS), f"{self.place}: {member}")
                for member, one in trees.items()
            },
            features=self.linear(part, "features", len(FEATURES)),
            embedding=self.linear(part, "embedding", 3 * width),
            weights={member: self.number(weights, member) for member in weights},
        )
