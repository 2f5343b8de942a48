"""Which instances and papers a model has learnt from, kept in its folder, so that nobody scores it on them unawares."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

__all__ = ["TRAINED_ON", "TrainedOn", "read_trained_on", "trainings_of"]

TRAINED_ON: Final = "trained_on.json"
"""The name of the file in a model's folder."""


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """What a model was trained on.

    Attributes
    ----------
    dataset_sha256 : str
        Of the dataset's file.
    instance_ids, paper_ids : tuple of str
        All that it could have learnt from, drawn or not; sorted.
    """

    dataset_sha256: str
    instance_ids: tuple[str, ...]
    paper_ids: tuple[str, ...]

    def met(self, instances: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Of (instance id, paper id) pairs the ids of those that the model knows, or knows the paper of."""
        known, papers = set(self.instance_ids), set(self.paper_ids)
        return tuple(name for name, paper in instances if name in known or paper in papers)

    def written(self, folder: Path) -> Path:
        """The file, written to a model's folder."""
        path = folder / TRAINED_ON
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        return path


def read_trained_on(folder: Path) -> TrainedOn | None:
    """What a model folder says of its training; ``None`` where it says nothing that can be read."""
    try:
        found = json.loads((folder / TRAINED_ON).read_text(encoding="utf-8"))
        return TrainedOn(
            str(found["dataset_sha256"]),
            tuple(str(name) for name in found["instance_ids"]),
            tuple(str(name) for name in found["paper_ids"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def trainings_of(settings: Mapping[str, object]) -> dict[str, TrainedOn]:
    """The model folders among a retriever's settings that say what they were trained on.

    Parameters
    ----------
    settings : mapping
        ``model`` of `dense`, or of a member of `hybrid`, such as ``dense.model``; others are passed over.

    Returns
    -------
    dict of str to TrainedOn
        By the setting's value.
    """
    found: dict[str, TrainedOn] = {}
    for key, value in settings.items():
        if key.rpartition(".")[2] == "model" and isinstance(value, str):
            told = read_trained_on(Path(value).expanduser())
            if told is not None:
                found[value] = told
    return found
