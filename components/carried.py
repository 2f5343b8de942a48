"""Sets of instances, as a link carries them from page to page."""

from __future__ import annotations

import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import numpy as np
import streamlit as st

from components import resources
from components.state import open_later
from evidencebench_core.data import DatasetInfo
from evidencebench_core.words import quantity

PARAM: Final = "among"  # of the address of Browse
_MOST_NAME: Final = 120  # characters


@dataclass(frozen=True, slots=True)
class InstanceSet:
    """Instances of a dataset, in the order of its file."""

    name: str
    ids: tuple[str, ...]


def instance_set(name: str, dataset: DatasetInfo, ids: Iterable[str]) -> str:
    """The text of a set: a digest of the dataset's content, a compressed bit for each instance, the name."""
    bits = resources.instances(dataset)["id"].isin(set(ids))
    packed = urlsafe_b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode().rstrip("=")
    return f"{_digest(dataset)}.{packed}.{name[:_MOST_NAME]}"


def read_set(text: str, dataset: DatasetInfo) -> InstanceSet | None:
    """The inverse of `instance_set`; ``None`` where the text is no set of what the dataset holds now."""
    digest, _, rest = text.partition(".")
    packed, _, name = rest.partition(".")
    ids = resources.instances(dataset)["id"]
    n_bytes = (len(ids) + 7) // 8
    if digest != _digest(dataset):
        return None
    try:
        content = zlib.decompressobj().decompress(urlsafe_b64decode(packed + "=="), n_bytes + 1)
    except (ValueError, zlib.error):
        return None
    if len(content) != n_bytes:
        return None
    bits = np.unpackbits(np.frombuffer(content, np.uint8), count=len(ids)).astype(bool)
    return InstanceSet(name[:_MOST_NAME] or "Set", tuple(ids[bits]))


def draw_set_button(dataset: DatasetInfo, name: str, ids: Sequence[str], label: str = "") -> None:
    """The button that opens a set in Browse, with task and runs as they are; nothing of an empty one."""
    if not ids:
        return
    st.button(
        label or f"Read {'this one' if len(ids) == 1 else f'these {len(ids):,}'} in Browse",
        key=f"set-{name}",
        help=f"{quantity(len(ids), 'instance')}, in a list of their own. Back returns here.",
        icon=":material/menu_book:",
        on_click=lambda: open_later(
            "browse", {"dataset": dataset.name, PARAM: instance_set(name, dataset, ids)}
        ),
    )


def _digest(dataset: DatasetInfo) -> str:
    return sha256(dataset.stamp.encode()).hexdigest()[:8]
