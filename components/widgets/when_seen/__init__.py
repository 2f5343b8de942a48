"""A part of a page that stands far down: drawn when it is first scrolled to, so that no click waits for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from components.app.page import guarded_part
from components.app.state import mark_end_of_run, open_requested_page, session_text, set_session_text
from components.widgets.component import component

_component = component("when_seen", Path(__file__).parent, "<span hidden></span>")


@st.fragment
@guarded_part()
def draw_when_seen(name: str, draw: Callable[[], None], height: int) -> None:
    """Call ``draw`` once the place is on screen, and from then on in every run of the session.

    Until then ``height`` pixels are held free. ``draw`` runs in a fragment: a click in it reaches the rest of the
    page by ``st.rerun``, and another page as everywhere.
    """
    open_requested_page()
    seen = f"seen-{name}"
    if session_text(seen):
        draw()
    else:
        _component(key=seen, on_event_change=lambda: set_session_text(seen, "yes"), height=height)
    mark_end_of_run()
