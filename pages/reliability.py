"""Reliability: what a language model can be trusted with, by RAmBLA's tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.app.page import guard
from components.app.state import PageState
from components.reliability.comparing import draw_comparing
from components.reliability.judges import draw_judges
from components.reliability.overview import draw_overview
from components.reliability.questions import draw_first_steps, draw_questions
from components.reliability.start import ASKING, run_dialog
from components.reliability.task import draw_task
from components.reliability.view import VIEW_DEFAULTS, View, view_of
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.switches import option_switch

DEFAULTS = {"part": "overview", **VIEW_DEFAULTS}
PARTS = {
    "overview": "All tests",
    "task": "One test",
    "compare": "Two models",
    "judges": "Judges",
    "questions": "Questions",
}
_DRAWN: Mapping[str, Callable[[PageState, View], None]] = {
    "task": draw_task,
    "compare": draw_comparing,
    "judges": draw_judges,
    "questions": draw_questions,
}


def draw(state: PageState) -> None:
    st.title("Reliability")
    st.markdown(
        "What can a language model be trusted with? It is asked the same questions again in other words, misspelt, "
        "with texts that distract, with texts that say the opposite, and with texts that do not tell."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = view_of(state)
        if view is not None:
            if st.button("Start or resume runs", type="primary" if not view.runs else "secondary"):
                run_dialog(view)
            copy_link(state.link(items=view.items.name))
    job_panel(ASKING)
    if view is None:
        draw_first_steps()
        return
    option_switch(
        state, "part", "Part of the page", PARTS, fallback="all tests are", label_visibility="collapsed"
    )
    _DRAWN.get(state["part"], draw_overview)(state, view)


with guard():
    draw(PageState("reliability", DEFAULTS))
