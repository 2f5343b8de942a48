"""Notes: on an instance, a sentence of it, an aspect that a run missed; listed, and one form for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from components import resources
from components.controls import chip_table, sentence_chip
from components.markdown import literal
from components.state import PageState, flash, session_text, set_session_text
from components.table import Column, Row
from evidencebench_core.analyses.causes import CAUSES, cause_title
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import EvidenceBenchError, SettingError
from evidencebench_core.export.reader import SentenceNote
from evidencebench_core.words import quantity

NOTES: Final = Column(
    "notes",
    "Notes",
    "id",
    "Flags (⚑) and comments on the instance and its sentences, and on what runs missed",
)
_COLUMNS: Final = (
    Column("words", "Flags and comments"),
    Column("sentence", "Sentence", "chips", "A click shows it in the paper; none: the whole instance"),
    Column("author", "By", "id"),
)


def note_kind(notes: Sequence[Note]) -> str:
    """By what the list is filtered."""
    if any(note.flagged for note in notes):
        return "Flagged"
    return "Comment only" if notes else "None"


def note_cell(notes: Sequence[Note]) -> str | None:
    """``⚑ 1, 2 comments``."""
    n_flags = sum(note.flagged for note in notes)
    n_comments = sum(bool(note.text or note.cause or note.tags) for note in notes)
    parts = [f"⚑ {n_flags}"] * (n_flags > 0) + [quantity(n_comments, "comment")] * (n_comments > 0)
    return ", ".join(parts) or None


def draw_notes(state: PageState, dataset: DatasetInfo, instance: Instance, is_apart: bool) -> None:
    """The notes on an instance, and the form to flag or comment on it or on the sentence that is chosen.

    Who works ``is_apart`` sees no notes of others.
    """
    notes = resources.notes(dataset).get(instance.id, ())
    sentence = state.number("sentence")
    with st.popover("Flag or comment", key="notes"):
        places = ["The whole instance", *([] if sentence is None else [f"Sentence {sentence}"])]
        on = st.segmented_control(
            "On", places, required=True, default=places[-1], key=f"note-place-{instance.id}-{sentence}"
        )
        if sentence is None:
            st.caption("Click a sentence in the paper to flag that one.")
        index = None if on == places[0] else sentence
        draw_note_form(
            dataset, Note(instance_id=instance.id, author="", dataset=dataset.name, sentence=index)
        )
    if is_apart:
        notes = tuple(note for note in notes if note.author == session_text("author"))
    if not notes:
        return
    names = {run.id: run.label for run in resources.runs(dataset)}
    names |= {aspect.id: aspect.label for aspect in instance.evidence.aspects}
    rows = []
    for number, note in enumerate(notes):
        chip = None if note.sentence is None else (sentence_chip(note.sentence),)
        rows.append(Row(str(number), (_words(note, names), chip, f"{note.author}, {note.created_at[:10]}")))
    caption = "Flags and comments on this instance"
    chip_table(state, _COLUMNS, rows, key="notes-listed", caption=caption)


def draw_note_form(
    dataset: DatasetInfo, place: Note, cause: str = "", go_on: Callable[[], None] | None = None
) -> None:
    """One author's note on a place, over that author's earlier one; what is wrong is said at its end.

    On a miss with its ``cause``, the suggested one to begin with; ``go_on`` is what follows *Save and next*.
    """
    author = session_text("author")
    where = _where(place)
    notes = resources.notes(dataset)
    of_author = [note for note in notes.get(place.instance_id, ()) if note.author == author]
    own = next((note for note in of_author if _where(note) == where), None)
    tags = {tag for every in notes.values() for note in every for tag in note.tags}
    ident = f"{where}-{own.created_at if own else ''}"
    shown = own or replace(place, cause=cause or None)
    with st.form(f"note-{ident}", border=False):
        if place.run_id:
            causes = list(dict.fromkeys([*CAUSES, *filter(None, [shown.cause])]))
            st.selectbox(
                "Cause",
                causes,
                causes.index(shown.cause) if shown.cause else None,
                format_func=cause_title,
                placeholder="Choose, or type your own",
                accept_new_options=True,
                key=f"cause-{ident}",
            )
        st.text_area("Comment", shown.text, height=68, key=f"text-{ident}")
        left, right = st.columns([3, 2])
        left.multiselect(
            "Tags",
            sorted(tags),
            default=list(shown.tags),
            accept_new_options=True,
            placeholder="Choose or type",
            key=f"tags-{ident}",
        )
        right.text_input(
            "Author", author, max_chars=200, placeholder="Your initials", required=True, key=f"author-{ident}"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.checkbox("⚑ Flag", shown.flagged, key=f"flagged-{ident}")
            if go_on:
                st.form_submit_button(
                    "Save and next",
                    type="primary",
                    shortcut="Mod+Enter",
                    on_click=_save,
                    args=(place, own, ident, go_on),
                )
            st.form_submit_button(
                "Save", type="secondary" if go_on else "primary", on_click=_save, args=(place, own, ident)
            )
        if problem := st.session_state.pop(f"problem-{ident}", ""):
            st.error(literal(problem))


def sentence_notes(dataset: DatasetInfo, instance: Instance) -> tuple[SentenceNote, ...]:
    """The notes on each sentence, as the reader has it."""
    of_sentence: dict[int, list[Note]] = {}
    for note in resources.notes(dataset).get(instance.id, ()):
        if note.sentence is not None:
            of_sentence.setdefault(note.sentence, []).append(note)
    return tuple(
        SentenceNote(
            sentence,
            "; ".join(f"{note.author}: {_words(note, {})}" for note in notes),
            any(note.flagged for note in notes),
        )
        for sentence, notes in of_sentence.items()
    )


def _save(place: Note, own: Note | None, ident: str, go_on: Callable[[], None] | None = None) -> None:
    """Keep what the form says in the place of the note that it was drawn with; nothing takes that back."""
    fields = ("flagged", "text", "author", "tags", *(["cause"] if place.run_id else []))
    values = {name: st.session_state[f"{name}-{ident}"] for name in fields}
    values |= {
        "text": values["text"].strip(),
        "author": values["author"].strip(),
        "tags": tuple(values["tags"]),
    }
    note = replace(place, **values)
    set_session_text("author", note.author)
    try:
        if own is None and not note.says_something:
            raise SettingError("note", "says nothing", "Flag it, add a tag or write a comment.")
        stored = NoteStore(resources.store()).add(note)
    except EvidenceBenchError as error:
        st.session_state[f"problem-{ident}"] = str(error)
        return
    flash("Noted." if stored.says_something else "Taken back.")
    if go_on:
        go_on()


def _where(note: Note) -> str:
    """What a note is on: each author has one there."""
    return f"{note.instance_id}-{note.sentence}-{note.run_id}-{note.task}-{note.aspect_id}"


def _words(note: Note, names: Mapping[str, str]) -> str:
    """What a note says; ``names`` of runs and aspects, by id."""
    run, aspect = (names.get(name, name) for name in (note.run_id, note.aspect_id))
    about = f"{aspect} missed by {run}" if run else ""
    text = " · ".join(filter(None, (about, cause_title(note.cause), ", ".join(note.tags), note.text)))
    return f"⚑ {text or 'Flagged'}" if note.flagged else text
