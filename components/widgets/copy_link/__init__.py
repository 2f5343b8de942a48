"""A button that copies a link to what is on the screen."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

__all__ = ["copy_link"]

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "evidencebench_copy_link",
    html='<button type="button"></button><input type="text" readonly hidden aria-label="Link to this view" />'
    '<span role="status"></span>',
    css=(_HERE / "copy_link.css").read_text(encoding="utf-8"),
    js=(_HERE / "copy_link.js").read_text(encoding="utf-8"),
)


def copy_link(link: str, label: str = "Copy link") -> None:
    """Draw the button.

    Parameters
    ----------
    link : str
        Path and query, as `components.app.state.PageState.link` gives it; the browser puts its own
        address in front.
    """
    _component(key=f"copy-link-{label}", data={"link": link, "label": label}, width="content")
