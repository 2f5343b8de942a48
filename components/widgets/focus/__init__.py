"""Moves the keyboard's focus to a text field that a click or a key has just opened."""

from __future__ import annotations

from pathlib import Path

from components.widgets.component import component

_component = component("focus", Path(__file__).parent, "<span hidden></span>")


def focus_on(key: str) -> None:
    """Put the focus into the text field with this widget key when it first appears, the cursor at its end.

    The key has letters, digits and hyphens only: it is part of a CSS class.
    """
    _component(key=f"focus-{key}", data={"key": key}, width="content", height="content")
