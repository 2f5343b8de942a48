"""Twenty-four invented items of ours, so that there is something to look at before a file is read."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from evidencebench_core.data.store import Store
from evidencebench_core.reliability.items import Item, ItemSetInfo, add_items

SAMPLE_NAME: Final = "sample"
SAMPLE_SOURCE: Final = "invented items (no study in them is real)"


def sample_items() -> tuple[Item, ...]:
    """The items, 12 of each answer, each with a paraphrase and a context that says the opposite."""
    text = files(__package__).joinpath("sample_items.json").read_text(encoding="utf-8")
    return tuple(Item.from_dict(values) for values in json.loads(text))


def add_sample_items(store: Store, name: str = SAMPLE_NAME) -> ItemSetInfo:
    """Keep them under a name; where the store has them already, that set."""
    return add_items(store, name, sample_items(), source=SAMPLE_SOURCE)
