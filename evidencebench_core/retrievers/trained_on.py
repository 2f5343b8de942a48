"""The papers a model has learnt from, kept with it, so that nobody scores it on them unawares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

TRAINED_ON: Final = "trained_on.json"
"""The file in the folder of an embedding model."""


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The data that a model could have learnt from, drawn or not."""

    dataset: str = ""  # its name when the model was trained
    n_instances: int = 0
    paper_keys: tuple[str, ...] = ()  # `data.model.paper_key` of the papers, sorted, each once

    def write(self, folder: Path) -> None:
        """Put the record into a model's folder."""
        (folder / TRAINED_ON).write_bytes(_RECORD.dump_json(self, indent=1))


_RECORD: Final = TypeAdapter(TrainedOn)


def trained_on_at(model: str) -> tuple[TrainedOn, ...]:
    """The record in the folder of an embedding model; none where it cannot be read, or the model has no folder here."""
    try:
        return (_RECORD.validate_json((Path(model).expanduser() / TRAINED_ON).read_bytes()),)
    except (OSError, ValueError):
        return ()
