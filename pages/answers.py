"""Answers: systems that answer questions with citations, by MedAESQA's metrics, and judges of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.answers.agreement import draw_judges
from components.answers.disagreements import draw_queue
from components.answers.matrix import NUGGET_DEFAULTS
from components.answers.nuggets import draw_all_nuggets
from components.answers.reading import draw_reading
from components.answers.sets import draw_first_steps, draw_keeping, draw_more, picked_set
from components.answers.start import JUDGING, judge_dialog
from components.answers.systems import draw_systems
from components.app.page import guard
from components.app.state import PageState
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.switches import option_switch
from evidencebench_core.answers.store import AnswerSetInfo

DEFAULTS = {
    "set": "",
    "part": "systems",
    "metric": "",
    "labels": "",
    "official": "",
    "against": "",
    "question": "",
    "system": "",
    "sentence": "",
    "document": "",
    "run": "",
    "corrected": "",
    "precedence": "support-first",
    "supports": "",
    "unparsed": "wrong",
    "human": "",
    "judged": "",
    "unit": "",
    "page": "1",
    **NUGGET_DEFAULTS,
}
PARTS = {
    "systems": "Systems",
    "answers": "One answer",
    "nuggets": "Nuggets",
    "judges": "Judges",
    "queue": "Disagreements",
    "sets": "Sets of answers",
}
_DRAWN: Mapping[str, Callable[[PageState, AnswerSetInfo], None]] = {
    "answers": draw_reading,
    "nuggets": draw_all_nuggets,
    "judges": draw_judges,
    "queue": draw_queue,
    "sets": draw_more,
}


def draw(state: PageState) -> None:
    st.title("Answers")
    st.markdown(
        "Assistants answer questions with citations. Is what matters there, and does the cited document say so? Here "
        "are people's labels, MedAESQA's metrics of systems, and how well judges agree with people."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        info = picked_set(state)
        if info is not None:
            if info.counts["answers"] and st.button("Judge the answers"):
                judge_dialog(info)
            copy_link(state.link(set=info.name))
            draw_keeping(state, info)
    job_panel(JUDGING)
    if info is None:
        draw_first_steps()
        return
    option_switch(
        state, "part", "Part of the page", PARTS, fallback="the systems are", label_visibility="collapsed"
    )
    _DRAWN.get(state["part"], draw_systems)(state, info)


with guard():
    draw(PageState("answers", DEFAULTS))
