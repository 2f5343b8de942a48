"""A button that prints a page of HTML."""

from __future__ import annotations

from pathlib import Path

from components.widgets.component import component

_HERE = Path(__file__).parent
_STYLE = _HERE.parents[2] / "widgets" / "copy_link" / "copy_link.css"  # a button like the one beside it
_component = component("print_page", _HERE, '<button type="button"></button>', style=_STYLE)


def print_button(page: str, label: str = "Print") -> None:
    """Draw the button; the HTML page is printed from a frame in which no script runs."""
    _component(key=f"print-{label}", data={"page": page, "label": label}, width="content")
