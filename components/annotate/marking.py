"""The paper on the left, the study aspects and what covers them on the right."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.annotate.aspects import draw_aspects, draw_others
from components.annotate.desk import Desk, ask_who, desk_of, draw_marks, draw_saving
from components.app import resources
from components.app.session import widget_value
from components.app.state import PageState
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent
from components.widgets.switches import on_off_switch
from evidencebench_core.annotation.marked import MarkedPaper
from evidencebench_core.annotation.model import Annotation

_OF_ANY_PAPER = {"dataset", "q", "click"}
_FEW = 6  # aspects, up to which their pills have room for words


def draw_marking(state: PageState, marked: MarkedPaper, annotator: str) -> None:
    """Everything about one annotator's work on one paper."""
    desk = desk_of(marked, annotator)
    _draw_bar(state, desk)
    draw_title(marked)
    _draw_hypothesis(desk)
    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_reader(state, desk)
    with side:
        _draw_sentence(state, desk)
        draw_aspects(state, desk)
        draw_saving(state, desk)
        draw_others(state, desk)


def draw_page_bar(state: PageState) -> None:
    """Back to all papers."""
    if st.button("All papers", key="all-papers"):
        state.put(**dict.fromkeys(set(state.defaults) - _OF_ANY_PAPER))
        st.rerun()


def draw_title(marked: MarkedPaper) -> None:
    """The paper's title, or name, and where it is from."""
    first = marked.paper.sentences[0] if marked.paper.sentence_types[0] == "section_name" else ""
    with st.container(key="paper-head"):
        st.markdown(f"# {literal(first or marked.name, 300)}")
    if marked.dataset is not None:
        st.caption(f"Instance {literal(marked.name)} of the dataset {literal(marked.dataset)}")


def _draw_bar(state: PageState, desk: Desk) -> None:
    known = tuple(
        one for one in resources.paper_annotations().annotators(desk.marked.key) if one != desk.annotator
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_page_bar(state)
        with st.popover(f"Marking as {literal(desk.annotator, 30)}"):
            ask_who(state, known, "other")
        st.button("Undo", disabled=not desk.revision.can_undo, on_click=desk.undo)
        st.button("Redo", disabled=not desk.revision.can_redo, on_click=desk.redo)
        number = desk.revision.number
        st.caption(
            f"Revision {number}, saved" if number else "Every change is saved at once", width="content"
        )
        copy_link(state.link("paper", annotator=desk.annotator))


def _draw_hypothesis(desk: Desk) -> None:
    key = f"hypothesis.{desk.version}"
    st.text_area(
        "Hypothesis",
        value=desk.annotation.hypothesis,
        height=68,
        max_chars=2000,
        placeholder="Longer exposure to night-shift work increases the risk of type 2 diabetes.",
        key=key,
        on_change=lambda: desk.edit(lambda a: a.set_hypothesis(widget_value(key))),
    )


def _draw_reader(state: PageState, desk: Desk) -> None:
    ids = list(desk.labels())

    def act(event: PaperEvent) -> None:
        clicked = state.number("sentence") if event.sentence is None else event.sentence
        state.put(sentence=event.sentence, lit=None if event.aspect is None else ids[event.aspect])
        if event.kind == "aspect" and event.aspect is not None:
            state.put(aspect=ids[event.aspect])
        if event.kind == "sentence" and state["click"] == "1" and clicked is not None:
            _toggle(desk, state["aspect"], clicked)

    lit = ids.index(state["lit"]) if state["lit"] in ids else None
    draw_marks(state, desk.marked, desk.annotation.evidence().aspects, lit, act, by=desk.annotator)


def _toggle(desk: Desk, aspect_id: str, index: int) -> None:
    chosen = desk.chosen(aspect_id)
    if chosen is not None:
        change = Annotation.unmark if index in chosen.sentences else Annotation.mark
        desk.edit(partial(change, aspect_id=aspect_id, sentences=[index]))


def _draw_sentence(state: PageState, desk: Desk) -> None:
    """The aspects that the chosen sentence covers, to be toggled."""
    aspects, index = desk.annotation.aspects, state.number("sentence")
    if not aspects:
        return
    with st.container(border=True):
        if index is None or index >= desk.annotation.n_sentences:
            st.markdown("**Click a sentence in the paper**, then say here what it covers.")
        else:
            paper, labels = desk.marked.paper, desk.labels()
            section = literal(paper.sections[index] or "before the first heading", 60)
            st.markdown(f"**Sentence {index}** · {section}")
            st.caption(literal(paper.sentences[index], 240))
            covered = [aspect.id for aspect in aspects if index in aspect.sentences]
            room = 46 if len(aspects) <= _FEW else 16
            texts = {aspect.id: f"{labels[aspect.id]} {literal(aspect.text, room)}" for aspect in aspects}
            key = f"covers.{index}.{desk.version}"
            st.pills(
                "It covers",
                list(texts),
                selection_mode="multi",
                format_func=texts.__getitem__,
                default=covered,
                key=key,
                on_change=lambda: _save_marks(desk, index, set(covered), set(widget_value(key))),
            )
        _draw_click_mode(state, desk)


def _save_marks(desk: Desk, index: int, before: set[str], after: set[str]) -> None:
    def toggled(annotation: Annotation) -> Annotation:
        for aspect_id in before ^ after:
            change = Annotation.mark if aspect_id in after else Annotation.unmark
            annotation = change(annotation, aspect_id, [index])
        return annotation

    desk.edit(toggled)


def _draw_click_mode(state: PageState, desk: Desk) -> None:
    """For many marks in a row: a click in the paper marks for the chosen aspect at once."""
    chosen = desk.chosen(state["aspect"])
    what = f"for {desk.labels()[chosen.id]}" if chosen else "(choose an aspect below first)"
    on_off_switch(
        state,
        "click",
        f"A click in the paper marks at once {what}",
        disabled=chosen is None,
        help="A second click takes the mark back.",
    )
