"""Back to the top of the page when another miss, or the queue, is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

__all__ = ["to_top"]

_SCRIPT: Final = Path(__file__).with_name("top.js").read_text(encoding="utf-8")
_mount = st.components.v2.component("evidencebench_to_top", js=_SCRIPT)


def to_top(place: str) -> None:
    """Scroll up if ``place`` is another than the last time; it names what the page shows."""
    _mount(key="missed-top", data={"place": place}, height=1)
