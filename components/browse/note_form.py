"""The form for one author's note: on an instance, a sentence, or an aspect that a run missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from components import resources
from components.markdown import literal
from components.state import flash, session_text, set_session_text
from evidencebench_core.analyses.causes import CAUSES, cause_title
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError, SettingError


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
