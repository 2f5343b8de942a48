"""A button that prints a page of HTML."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

__all__ = ["print_button"]

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "evidencebench_print_page",
    html='<button type="button"></button>',
    css=(_HERE.parents[2] / "widgets" / "copy_link" / "copy_link.css").read_text(encoding="utf-8"),
    js=(_HERE / "print_page.js").read_text(encoding="utf-8"),
)


def print_button(page: str, label: str = "Print") -> None:
    """Draw the button.

    Parameters
    ----------
    page : str
        A whole HTML page. It is printed from a frame in which no script runs.
    """
    _component(key=f"print-{label}", data={"page": page, "label": label}, width="content")
