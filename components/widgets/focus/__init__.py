"""Moves the keyboard's focus to a text field that a click or a key has just opened."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

__all__ = ["focus_on"]

_component = st.components.v2.component(
    "evidencebench_focus",
    html="<span hidden></span>",
    js=(Path(__file__).parent / "focus.js").read_text(encoding="utf-8"),
)


def focus_on(key: str) -> None:
    """Put the focus into the text field with this widget key when it first appears, the cursor at its end.

    Parameters
    ----------
    key : str
        Letters, digits and hyphens only: it is part of a CSS class.
    """
    _component(key=f"focus-{key}", data={"key": key}, width="content", height="content")
