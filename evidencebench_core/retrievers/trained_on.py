"""The instances and papers a model has learnt from, kept with it, so that nobody scores it on them unawares."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import file_content
from evidencebench_core.errors import DataError

_LARGEST: Final = 64 << 20  # bytes: the record of the 100k train set has some 6 million
TRAINED_ON: Final = "trained_on.json"
"""The file in the folder of an embedding model."""


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The data that a model could have learnt from, drawn or not."""

    dataset_sha256: str  # of the dataset's file
    instance_ids: tuple[str, ...]  # sorted, each once
    paper_ids: tuple[str, ...]  # sorted, each once
    dataset: str = ""  # its name when the model was trained

    def write(self, folder: Path) -> None:
        """Put the record into a model's folder."""
        (folder / TRAINED_ON).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def read_trained_on(folder: Path) -> TrainedOn | None:
    """The record in a model's folder; ``None`` where there is none that can be read."""
    try:
        record = json.loads(file_content(folder / TRAINED_ON, _LARGEST, "Train the model again."))
        return TrainedOn(
            str(record["dataset_sha256"]),
            tuple(map(str, record["instance_ids"])),
            tuple(map(str, record["paper_ids"])),
            str(record.get("dataset", "")),
        )
    except (DataError, ValueError, KeyError, TypeError, AttributeError):
        return None
