"""Mark evidence: study aspects written and sentences marked by hand, and two annotators compared."""

from __future__ import annotations

import streamlit as st

from components.annotate.choose import draw_choice
from components.annotate.comparing import draw_comparing
from components.annotate.desk import annotator_here, draw_who
from components.annotate.marking import draw_marking, draw_page_bar, draw_title
from components.app import resources
from components.app.page import drop_missing, guard, name_window
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.annotation.marked import marked_paper
from evidencebench_core.errors import UnknownNameError

DEFAULTS = {
    "paper": "",
    "annotator": "",
    "aspect": "",
    "sentence": "",
    "view": "mark",
    "a": "",
    "b": "",
    "item": "",  # the disagreement that is being decided
    "scope": "",  # the aspect whose marks are compared in the reader
    "lit": "",
    "click": "",
    "others": "",
    "dataset": "",
    "q": "",
}


def draw(state: PageState) -> None:
    if not state["paper"]:
        draw_choice(state)
        return
    try:
        marked = marked_paper(resources.store(), _key(state["paper"]))
    except UnknownNameError as error:
        st.title("Mark evidence")
        st.warning(literal(str(error)))
        draw_page_bar(state)
        return
    name_window("Mark evidence", marked.name)
    drop_missing(state, len(marked.paper.sentences))
    if state["view"] == "compare":
        draw_comparing(state, marked)
        return
    annotator = annotator_here(state)
    if annotator:
        draw_marking(state, marked, annotator)
        return
    draw_page_bar(state)
    draw_title(marked)
    draw_who(state, resources.paper_annotations().annotators(marked.key))


def _key(paper: str) -> str:
    """Annotations' key of the paper that the address names; a kept one may be called by its number."""
    return f"own:{paper}" if paper.isascii() and paper.isdigit() else paper


with guard():
    draw(PageState("annotate", DEFAULTS, DEFAULTS.keys() - {"q"}))
