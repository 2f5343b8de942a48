"""A `Ranker` as a folder with the file ``ranker.safetensors``."""

import hashlib
import json
import os
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from evidencebench_core.data.files import whole_file
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.encoding import TrainedOn
from evidencebench_core.retrievers.ranker.model import COLUMNS, Network, Projection, Ranker
from evidencebench_core.retrievers.ranker.selection import Selecting

FILE: Final = "ranker.safetensors"
SHIPPED: Final = Path(__file__).with_name("shipped")
"""The folder of the ranker that comes with this package; scripts/make-ranker makes it."""
_FORMAT: Final = "evidencebench-ranker 10"
_PARTS: Final[dict[str, type[Any]]] = {"topics": Projection, "shared_topics": Projection, "network": Network}
_REMEDY: Final = (
    "Train one: evidencebench train-ranker --dataset NAME, or remove its file to use the one shipped."
)


def default_model_path() -> Path:
    """Where ``train-ranker`` writes: the user's data folder, or EVIDENCEBENCH_RANKER."""
    if named := os.environ.get("EVIDENCEBENCH_RANKER"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("evidencebench", appauthor=False)) / "ranker"


def model_folder(name: str) -> Path:
    """The folder of a model by its setting: ``default`` is the one trained here last, else the shipped one."""
    if name == "shipped":
        return SHIPPED
    if name != "default":
        return Path(name).expanduser()
    return default_model_path() if (default_model_path() / FILE).exists() else SHIPPED


def write_model(ranker: Ranker, folder: Path) -> str:
    """Write a model; its digest."""
    from safetensors.numpy import save

    facts: dict[str, Any] = {"format": _FORMAT, "columns": COLUMNS}
    facts |= {name: asdict(getattr(ranker, name)) for name in ("trained_on", "selecting")}
    for name in ("encoder", "encoder_identity", "trees", "cosine_weight", "notes"):
        facts[name] = getattr(ranker, name)
    parts = {part: getattr(ranker, part)._asdict() for part in _PARTS}
    arrays = {f"{part}.{name}": array for part, of_part in parts.items() for name, array in of_part.items()}
    content = save(arrays, {"facts": json.dumps(facts, default=dict)})
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / FILE) as file:
        file.write(content)
    return _digest(content)


def read_model(folder: Path) -> tuple[Ranker, str]:
    """The model in a folder and its digest; `RetrieverError` if there is none written by this version."""
    from safetensors import SafetensorError

    try:
        status = (folder / FILE).stat()
        return _model_at(folder / FILE, (status.st_mtime_ns, status.st_size))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
        problem = f"cannot be read as a trained ranker ({reason})"
        raise RetrieverError(str(folder), problem, _REMEDY) from error


@lru_cache(maxsize=4)
def _model_at(path: Path, _status: tuple[int, int]) -> tuple[Ranker, str]:
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        facts = json.loads((file.metadata() or {})["facts"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict
    if facts.pop("format") != _FORMAT or facts.pop("columns") != list(COLUMNS):
        raise ValueError("it was trained by another version of this program")
    parts = {
        part: kind(**{name: arrays[f"{part}.{name}"] for name in kind._fields})
        for part, kind in _PARTS.items()
    }
    record, selecting = facts.pop("trained_on"), Selecting(**facts.pop("selecting"))
    trained_on = TrainedOn(**record | {"paper_keys": tuple(record["paper_keys"])})
    return Ranker(**facts, **parts, trained_on=trained_on, selecting=selecting), _digest(path.read_bytes())


def _digest(content: bytes) -> str:
    """Part of the id of the model's runs."""
    return hashlib.sha256(content).hexdigest()[:12]
