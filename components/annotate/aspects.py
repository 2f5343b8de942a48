"""The study aspects: write one, see what covers each, change them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.annotate.desk import Desk, desk_of
from components.app import resources
from components.app.session import session_text, set_session_text, widget_value
from components.app.state import PageState
from components.widgets.chips import clicked_chip, go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.switches import on_off_switch
from components.widgets.table import Cell, Chip, Column, Row, TableEvent, table
from evidencebench_core.annotation.marked import annotation_of, annotators_of
from evidencebench_core.annotation.model import GOLD, Annotation, MarkedAspect

_ADDED: Final = "annotate.added"
_COLUMNS: Final = (
    Column("aspect", "Aspect", "chips"),
    Column("text", "What a reader should learn"),
    Column("sentences", "Covered by", "chips", "Sentence indices; a click goes there"),
)
_OTHERS_COLUMNS: Final = (Column("who", "Who"), *_COLUMNS[1:])


def progress_line(annotation: Annotation, labels: dict[str, str]) -> str:
    """How far it is, as Markdown; aspects without a sentence are named."""
    n_aspects, missing = len(annotation.aspects), annotation.uncovered
    n_marked = len({index for aspect in annotation.aspects for index in aspect.sentences})
    line = (
        f"{n_aspects - len(missing)} of {n_aspects} aspects have a sentence; "
        f"{n_marked:,} of {annotation.n_sentences:,} sentences marked."
    )
    if not missing:
        return line
    named = ", ".join(f"{labels[aspect.id]} ({literal(aspect.text, 30)})" for aspect in missing)
    return f"{line} Without one: {named}."


def aspect_rows(annotation: Annotation, sentences: Sequence[str]) -> tuple[Row, ...]:
    """One row an aspect, with the sentences marked for it."""
    return tuple(
        Row(
            aspect.id,
            (
                (Chip(f"aspect:{aspect.id}", f"A{number + 1}", number, aspect.text, bool(aspect.sentences)),),
                _text(aspect),
                _marks(aspect, sentences),
            ),
        )
        for number, aspect in enumerate(annotation.aspects)
    )


def _text(aspect: MarkedAspect) -> str:
    return f"{aspect.text} (result)" if aspect.is_result else aspect.text


def _marks(aspect: MarkedAspect, sentences: Sequence[str]) -> Cell:
    return tuple(sentence_chip(index, sentences[index]) for index in aspect.sentences) or None


def draw_aspects(state: PageState, desk: Desk) -> None:
    """A field for a new aspect, the list, and what can be done with the chosen one."""
    annotation, labels = desk.annotation, desk.labels()
    st.markdown("## Study aspects")
    _draw_new(state, desk)
    if not annotation.aspects:
        st.markdown(
            "A study aspect is one thing that an expert would want to learn from this paper about the hypothesis: "
            "what was compared, in whom, what was found. Write one, then click sentences in the paper and say what "
            "they cover."
        )
        _draw_lists(desk)
        return
    st.caption(progress_line(annotation, labels))

    def act(event: TableEvent) -> None:
        kind, value = clicked_chip(event)
        if event.kind == "open":
            state.put(aspect=None if state["aspect"] == event.value else event.value)
        elif kind == "sentence":
            state.put(sentence=value)
        elif kind == "aspect":
            state.put(aspect=value, lit=None if state["lit"] == value else value)

    chosen = desk.chosen(state["aspect"])
    table(
        _COLUMNS,
        aspect_rows(annotation, desk.marked.paper.sentences),
        key="own-aspects",
        on_event=act,
        chosen=[chosen.id] if chosen else [],
        caption="Study aspects; a click chooses one to change it",
        height=560,
    )
    if chosen is None:
        st.caption("Click an aspect to change its words, its place, or to remove it.")
    else:
        _draw_change(state, desk, chosen, labels[chosen.id])


def _draw_new(state: PageState, desk: Desk) -> None:
    number = session_text(
        _ADDED, "0"
    )  # new fields once an aspect was saved; until then they keep their words
    of_text, of_result = f"new-aspect-text.{number}", f"new-aspect-result.{number}"

    def add() -> None:
        text, is_result = widget_value(of_text), widget_value(of_result)
        if text.strip():
            desk.edit(lambda annotation: annotation.add_aspect(text, is_result), go_on)
        else:
            st.warning("Say in a few words what a reader should learn.")

    def go_on() -> None:
        set_session_text(_ADDED, str(int(number) + 1))
        state.put(aspect=desk_of(desk.marked, desk.annotator).annotation.aspects[-1].id)

    with st.form("new-aspect", border=True):
        st.text_input(
            "New study aspect",
            placeholder="The study followed 2,000 nurses for ten years",
            max_chars=2000,
            key=of_text,
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.form_submit_button("Add aspect", type="primary", on_click=add)
            st.checkbox("It is a result", key=of_result, help="What the study found, not how it was made.")


def _draw_lists(desk: Desk) -> None:
    """Somebody else's list of aspects, so that marks can be compared aspect by aspect."""
    annotations = resources.paper_annotations()
    for other in annotators_of(annotations, desk.marked):
        theirs = annotation_of(annotations, desk.marked, other)
        if other == desk.annotator or not theirs.aspects:
            continue
        if other == GOLD and not desk.marked.gold_has_words:
            st.caption(
                "The dataset gives its aspects no words, so your marks can be compared with its gold by sentence only."
            )
            continue
        aspects = "the aspect" if len(theirs.aspects) == 1 else f"the {len(theirs.aspects)} aspects"
        begun = theirs.without_marks(desk.annotator)
        st.button(
            f"Start from {aspects} of {literal(other, 40)}, without the marks",
            key=f"start-from.{other}",
            help="To be compared aspect by aspect, two annotators need the same list.",
            on_click=desk.put,
            args=(begun.set_hypothesis(desk.annotation.hypothesis or begun.hypothesis),),
        )


def _draw_change(state: PageState, desk: Desk, aspect: MarkedAspect, label: str) -> None:
    of_text, of_result = (f"aspect-{what}.{aspect.id}.{desk.version}" for what in ("text", "result"))

    def remove() -> None:
        desk.edit(lambda a: a.remove_aspect(aspect.id), lambda: state.put(aspect=None, lit=None))

    with st.container(border=True):
        st.text_input(
            f"{label} says",
            value=aspect.text,
            max_chars=2000,
            key=of_text,
            on_change=lambda: desk.edit(lambda a: a.rename_aspect(aspect.id, widget_value(of_text))),
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.checkbox(
                "It is a result",
                value=aspect.is_result,
                key=of_result,
                on_change=lambda: desk.edit(lambda a: a.set_result(aspect.id, widget_value(of_result))),
            )
            st.button(
                "Remove", key="aspect-remove", help="Undo brings it back, with its marks.", on_click=remove
            )


def draw_others(state: PageState, desk: Desk) -> None:
    """The marks of others, hidden unless asked for, and the way to the comparison."""
    annotations = resources.paper_annotations()
    others = [one for one in annotators_of(annotations, desk.marked) if one != desk.annotator]
    if not others:
        return
    st.markdown("## Others")
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = on_off_switch(
            state,
            "others",
            f"Show what {literal(' and '.join(others), 80)} marked",
            help="Hidden while you mark, so that you judge for yourself.",
        )
        if st.button("Compare", disabled=not desk.annotation.aspects, key="to-comparison"):
            state.put(view="compare", a=desk.annotator, b=others[0], item=None)
            st.rerun()
    if not shown:
        return
    rows = [
        Row(f"{other}.{aspect.id}", (other, _text(aspect), marks))
        for other in others
        for aspect in annotation_of(annotations, desk.marked, other).aspects
        for marks in [_marks(aspect, desk.marked.paper.sentences)]
    ]
    table(
        _OTHERS_COLUMNS,
        rows,
        key="others-aspects",
        action="none",
        on_event=partial(go_to, state),
        caption="What others marked",
        height=480,
    )
