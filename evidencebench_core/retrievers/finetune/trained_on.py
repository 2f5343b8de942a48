"""Which instances and papers a model has learnt from, kept in its folder, so that nobody scores it on them unawares."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

TRAINED_ON: Final = "trained_on.json"
"""The name of the file in a model's folder."""


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The data that a model was trained on.

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

    def write(self, folder: Path) -> None:
        """Put the file into a model's folder."""
        (folder / TRAINED_ON).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def read_trained_on(folder: Path) -> TrainedOn | None:
    """The record in a model's folder; ``None`` where there is none that can be read."""
    try:
        found = json.loads((folder / TRAINED_ON).read_text(encoding="utf-8"))
        return TrainedOn(
            str(found["dataset_sha256"]),
            tuple(str(name) for name in found["instance_ids"]),
            tuple(str(name) for name in found["paper_ids"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
