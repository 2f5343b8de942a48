"""Mark evidence: aspects and marks by hand, a model's proposal decided by keys, two annotators and a consensus."""

from __future__ import annotations

import streamlit as st

from components.annotate.choose import draw_choice
from components.annotate.deciding import (
    JOB_KIND,
    draw_comparing,
    draw_proposals,
    draw_proposing,
    newest_proposal,
)
from components.annotate.editor import Editor, annotator_here, ask_who, editor_of
from components.annotate.marking import draw_aspects, draw_reader, draw_saving
from components.app import resources
from components.app.session import widget_value
from components.app.state import PageState
from components.widgets.guarded import drop_missing, guarded_page, name_window
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from evidencebench_core.annotation.differences import open_proposals
from evidencebench_core.annotation.marked import MarkedPaper, marked_paper
from evidencebench_core.annotation.propose import collect_proposals
from evidencebench_core.errors import UnknownNameError

DEFAULTS = {
    "paper": "",
    "annotator": "",
    "aspect": "",  # the one that a click marks for
    "sentence": "",
    "view": "mark",
    "a": "",
    "b": "",
    "item": "",  # what is being decided
    "dataset": "",
    "q": "",
}


def draw(state: PageState) -> None:
    if not state["paper"]:
        draw_choice(state)
        return
    paper = state["paper"]
    key = (
        f"own:{paper}" if paper.isascii() and paper.isdigit() else paper
    )  # a kept one may be called by its number
    try:
        marked = marked_paper(resources.store(), key)
    except UnknownNameError as error:
        st.title("Mark evidence")
        st.warning(literal(str(error)))
        _draw_way_back(state)
        return
    name_window("Mark evidence", marked.name)
    drop_missing(state, len(marked.paper.sentences))
    collect_proposals(resources.store(), key)
    annotator = annotator_here(state)
    if state["view"] == "compare":
        _draw_bar(state, marked, annotator)
        draw_comparing(state, marked)
    elif annotator:
        _draw_marking(state, editor_of(marked, annotator))
    else:
        _draw_way_back(state)
        st.markdown(f"# {literal(_title(marked), 300)}")
        st.markdown("## Who marks?")
        st.markdown(
            "Everything you mark is kept under this name as you go. Several people can mark one paper."
        )
        ask_who(state, marked.key, "start")


def _title(marked: MarkedPaper) -> str:
    paper = marked.paper
    return paper.sentences[0] if paper.sentence_types[0] == "section_name" else marked.name


def _draw_way_back(state: PageState) -> None:
    if st.button("All papers", key="all-papers"):
        state.put(**dict.fromkeys(set(state.defaults) - {"dataset", "q"}))
        st.rerun()


def _draw_bar(state: PageState, marked: MarkedPaper, annotator: str, editor: Editor | None = None) -> None:
    """One line: the ways on, who marks, undo and redo."""
    is_comparing = state["view"] == "compare"
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_way_back(state)
        if annotator:
            with st.popover(f"Marking as {literal(annotator, 30)}"):
                ask_who(state, marked.key, "other")
        if editor is not None:
            st.button("Undo", disabled=not editor.revision.can_undo, on_click=editor.undo)
            st.button("Redo", disabled=not editor.revision.can_redo, on_click=editor.redo)
            draw_proposing(editor)
        if st.button("Back to marking" if is_comparing else "Compare"):
            state.put(view=None if is_comparing else "compare", item=None)
            st.rerun()
    st.markdown(f"# {literal(_title(marked), 300)}")
    if marked.dataset is not None:
        st.caption(f"Instance {literal(marked.name)} of the dataset {literal(marked.dataset)}")


def _draw_marking(state: PageState, editor: Editor) -> None:
    _draw_bar(state, editor.marked, editor.annotator, editor)
    job_panel(JOB_KIND)
    key = f"hypothesis.{editor.version}"
    st.text_area(
        "Hypothesis",
        value=editor.annotation.hypothesis,
        height=68,
        max_chars=2000,
        placeholder="Longer exposure to night-shift work increases the risk of type 2 diabetes.",
        key=key,
        on_change=lambda: editor.edit(lambda annotation: annotation.set_hypothesis(widget_value(key))),
    )
    proposal = newest_proposal(editor.marked)
    waiting = () if proposal is None else open_proposals(editor.annotation, proposal)
    proposed = sorted({item.sentence for item in waiting if item.sentence is not None})
    left, right = st.columns([58, 42], gap="medium")
    with left, st.container(key="paper-stays-in-sight"):
        draw_reader(state, editor, proposed)
    with right:
        if proposal is not None:
            draw_proposals(state, editor, proposal)
        draw_aspects(state, editor)
        draw_saving(editor)


with guarded_page():
    draw(PageState("annotate", DEFAULTS))
