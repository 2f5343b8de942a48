"""The paper with the marks on the left, the study aspects on the right: an aspect by digit, a mark by click."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from zlib import crc32

import streamlit as st

from components import resources
from components.annotate.editor import Editor
from components.markdown import literal
from components.paper_view import PaperEvent, paper_view
from components.state import PageState, flash, open_later
from evidencebench_core.annotation.export import exported_annotation
from evidencebench_core.annotation.guidelines import guidelines, set_guidelines
from evidencebench_core.annotation.marked import annotation_of, annotators_of
from evidencebench_core.annotation.model import GOLD, MAX_ASPECT, Annotation, MarkedAspect
from evidencebench_core.data import Instance, add_instance
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export import write_benchmark
from evidencebench_core.export.reader import PaperView
from evidencebench_core.words import file_stem, quantity


def draw_reader(state: PageState, editor: Editor, proposed: Sequence[int]) -> None:
    """The paper; a click on a sentence marks it for the chosen aspect, or takes the mark back."""
    annotation, paper = editor.annotation, editor.marked.paper
    ids = [aspect.id for aspect in annotation.aspects]

    def act(event: PaperEvent) -> None:
        clicked = state.number("sentence") if event.sentence is None else event.sentence
        state.put(sentence=event.sentence)
        if event.kind == "aspect":
            state.put(aspect=None if event.aspect is None else ids[event.aspect])
        if event.kind == "sentence" and clicked is not None and editor.may_write:
            _toggle(editor, state["aspect"], clicked)

    view = PaperView(
        editor.marked.key,
        paper.sentences,
        paper.sentence_types,
        annotation.evidence().aspects,
        active=None,
        proposed=frozenset(proposed),
        selected=state.number("sentence"),
        aspect=ids.index(state["aspect"]) if state["aspect"] in ids else None,
        by=editor.annotator,
    )
    paper_view(view, key="reader", height=780, on_event=act)


def _toggle(editor: Editor, aspect_id: str, index: int) -> None:
    chosen = [aspect for aspect in editor.annotation.aspects if aspect.id == aspect_id]
    if not chosen:
        first = "Choose a study aspect" if editor.annotation.aspects else "Write a study aspect"
        flash(f"{first} first, on the right: then a click marks a sentence for it.")
        return
    change = Annotation.unmark if index in chosen[0].sentences else Annotation.mark
    editor.edit(partial(change, aspect_id=aspect_id, sentences=[index]))


def draw_aspects(state: PageState, editor: Editor) -> None:
    annotation = editor.annotation
    st.markdown("## Study aspects")
    if annotation.aspects:
        n_covered = len(annotation.aspects) - len(annotation.uncovered)
        st.caption(f"{n_covered} of {len(annotation.aspects)} have a sentence.")
    if editor.may_write:
        st.caption(
            "A study aspect is one thing to learn from this paper about the hypothesis: what was compared, in whom, "
            "what was found. Write one, or choose one by its digit; then click the sentences that say it."
        )
    for number, aspect in enumerate(annotation.aspects, start=1):
        _draw_aspect(state, editor, number, aspect)
    if editor.may_write:
        _draw_new(state, editor)
        if not annotation.aspects:
            _draw_lists(state, editor)


def _draw_aspect(state: PageState, editor: Editor, number: int, aspect: MarkedAspect) -> None:
    is_chosen = state["aspect"] == aspect.id
    marks = ", ".join(map(str, aspect.sentences)) or "no sentence yet"
    kind = "Result · " if aspect.is_result else ""
    with st.container(horizontal=True, gap="small"):
        st.button(
            f"A{number}",
            key=f"aspect.{aspect.id}",
            type="primary" if is_chosen else "secondary",
            shortcut=str(number) if number < 10 else None,
            on_click=state.put,
            kwargs={"aspect": None if is_chosen else aspect.id},
        )
        with st.container():
            st.markdown(f"{literal(aspect.text, 500)}  \n:small[{kind}{literal(marks)}]")
    if is_chosen and editor.may_write:
        _draw_changes(state, editor, number, aspect)


def _draw_changes(state: PageState, editor: Editor, number: int, aspect: MarkedAspect) -> None:
    of_text, of_result, of_note = (
        f"aspect-{name}.{aspect.id}.{editor.version}" for name in ("text", "result", "note")
    )

    def remove() -> None:
        editor.edit(lambda annotation: annotation.remove_aspect(aspect.id), lambda: state.put(aspect=None))

    with st.container(border=True):
        st.text_input(
            f"A{number} says",
            value=aspect.text,
            max_chars=MAX_ASPECT,
            key=of_text,
            required=True,
            on_change=lambda: editor.edit(lambda a: a.rename_aspect(aspect.id, st.session_state[of_text])),
        )
        st.text_area(
            "Note to the other annotators",
            value=aspect.note,
            height=68,
            max_chars=MAX_ASPECT,
            key=of_note,
            on_change=lambda: editor.edit(lambda a: a.set_note(aspect.id, st.session_state[of_note])),
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.checkbox(
                "It is a result",
                value=aspect.is_result,
                key=of_result,
                help="What the study found, not how it was made.",
                on_change=lambda: editor.edit(lambda a: a.set_result(aspect.id, st.session_state[of_result])),
            )
            st.button("Remove", help="Undo brings it back, with its marks.", on_click=remove)


def _draw_new(state: PageState, editor: Editor) -> None:
    key = "new-aspect-text"

    def add() -> None:
        editor.edit(lambda annotation: annotation.add_aspect(st.session_state[key]), go_on)

    def go_on() -> None:
        st.session_state[key] = ""
        state.put(aspect=f"aspect_{editor.annotation.n_made}")

    with st.form("new-aspect"):
        st.text_input(
            "New study aspect",
            placeholder="The study followed 2,000 nurses for ten years",
            max_chars=MAX_ASPECT,
            key=key,
            required=True,
        )
        st.form_submit_button("Add aspect", type="primary", on_click=add)


def _draw_lists(state: PageState, editor: Editor) -> None:
    """Somebody else's list of aspects to begin with, so that marks can be compared aspect by aspect."""
    annotations = resources.paper_annotations()
    for other in annotators_of(annotations, editor.marked):
        theirs = annotation_of(annotations, editor.marked, other)
        has_words = other != GOLD or editor.marked.gold_has_words
        if other == editor.annotator or not theirs.aspects or not has_words:
            continue
        begun = theirs.without_marks(editor.annotator)
        begun = begun.set_hypothesis(editor.annotation.hypothesis or begun.hypothesis)
        st.button(
            f"Start from the {quantity(len(theirs.aspects), 'aspect')} of {literal(other, 40)}, without the marks",
            key=f"start-from.{other}",
            on_click=editor.edit,
            args=(lambda _, begun=begun: begun, partial(state.put, aspect=begun.aspects[0].id)),
        )


def draw_guidelines() -> None:
    text = guidelines(resources.store())
    key = f"guidelines.{crc32(text.encode())}"
    st.text_area(
        "What a sentence must say to be marked",
        text,
        height=460,
        max_chars=20_000,
        key=key,
        on_change=lambda: set_guidelines(resources.store(), st.session_state[key]),
    )
    st.caption("For every paper, and exported with the marks. Clear the field to return to ours.")


def draw_saving(editor: Editor) -> None:
    """The two ways out; before it is complete, what is missing."""
    if not editor.annotation.aspects:
        return
    st.markdown("## Save as an instance")
    try:
        instance = exported_annotation(resources.paper_annotations(), editor.marked, editor.annotator)
    except EvidenceBenchError as error:
        st.caption(literal(f"Not yet: {error}"))
        return
    with st.container(horizontal=True):
        st.download_button(
            "Download dataset (JSON)",
            lambda: _dataset_file(instance),
            file_stem(f"{editor.marked.name} marked by {editor.annotator}") + ".json",
            "application/json",
            on_click="ignore",
        )
        with st.popover("Add to my datasets"):
            key = "dataset-name"
            st.text_input("Name of the dataset", "Marked by hand", max_chars=200, key=key, required=True)
            st.button("Add it", type="primary", on_click=_add, args=(instance, key))


def _dataset_file(instance: Instance) -> bytes:
    stream = io.BytesIO()
    write_benchmark([instance], stream)
    return stream.getvalue()


def _add(instance: Instance, key: str) -> None:
    name = st.session_state[key].strip()
    try:
        add_instance(resources.store(), name, instance)
    except EvidenceBenchError as error:
        flash(literal(str(error)))
        return
    flash(f"Added to the dataset {literal(name, 80)}.")
    open_later("browse", {"dataset": name, "instance": instance.id})
