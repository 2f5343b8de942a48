"""Goes back to the top of the page where it comes to show another thing: Streamlit stays where the last one was."""

from __future__ import annotations

from pathlib import Path

from components.widgets.component import component

_component = component("to_top", Path(__file__).parent, "<span hidden></span>")


def scroll_to_top(place: str) -> None:
    """Scroll up if ``place``, which names what the page shows, is another than the last time."""
    _component(key="to-top", data={"place": place}, width="content", height=1)
