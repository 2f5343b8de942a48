"""A button that copies a link to what is on the screen."""

from __future__ import annotations

from pathlib import Path

from components.widgets.component import component

_HTML = (
    '<button type="button"></button><input type="text" readonly hidden aria-label="Link to this view" />'
    '<span role="status"></span>'
)
BUTTON_STYLE = Path(__file__).parent / "copy_link.css"
_component = component("copy_link", Path(__file__).parent, _HTML)


def copy_link(link: str, label: str = "Copy link") -> None:
    """Draw the button; the browser puts its own address before ``link``, which `PageState.link` makes."""
    _component(key=f"copy-link-{label}", data={"link": link, "label": label}, width="content")
