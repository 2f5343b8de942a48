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
from components.construct.builds import draw_construction, draw_constructions
from components.construct.raters import draw_way_back
from components.construct.review import draw_build
from components.widgets.markdown import literal
from evidencebench_core.construction.raters import marked_by_key
from evidencebench_core.construction.store import KEY
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
    "construction": "",
    "build": "",
    "at": "",  # which fifty of its builds
    "blind": "",
}


def draw(state: PageState) -> None:
    if state["construction"]:
        _draw_construction(state)
        return
    if not state["paper"]:
        draw_choice(state)
        draw_constructions(state)
        return
    try:
        key = _key(state["paper"])
        marked = marked_by_key(resources.store(), key)
    except UnknownNameError as error:
        st.title("Mark evidence")
        st.warning(literal(str(error)))
        draw_page_bar(state)
        return
    name_window("Mark evidence", marked.name)
    if key.startswith(KEY):
        draw_way_back(state, key)
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


def _draw_construction(state: PageState) -> None:
    try:
        if state["build"]:
            draw_build(state)
        else:
            draw_construction(state)
    except UnknownNameError as error:
        st.title("Mark evidence")
        st.warning(literal(str(error)))
        draw_page_bar(state)


def _key(paper: str) -> str:
    """Annotations' key of the paper that the address names; a kept one may be called by its number."""
    return f"own:{paper}" if paper.isascii() and paper.isdigit() else paper


with guard():
    draw(PageState("annotate", DEFAULTS, DEFAULTS.keys() - {"q"}))
