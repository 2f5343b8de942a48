"""Flags and comments on an instance and its sentences: in the table of instances, beside the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import flash, session_text, set_session_text, widget_value
from components.app.state import PageState
from components.widgets.chips import go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.analyses.causes import cause_title
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import EvidenceBenchError
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


def draw_notes(state: PageState, dataset: DatasetInfo, instance: Instance) -> None:
    """The notes on an instance and its sentences, and the form to flag it or to comment on it."""
    notes = resources.notes(dataset).get(instance.id, ())
    sentence = state.number("sentence")
    with st.popover("Flag or comment", key="notes"):
        _draw_form(dataset, instance, sentence, notes)
    if not notes:
        return
    names = {run.id: run.label for run in resources.runs(dataset)}
    names |= {aspect.id: aspect.label for aspect in instance.evidence.aspects}
    rows = [
        Row(
            str(number),
            (
                _words(note, names),
                None if note.sentence is None else (sentence_chip(note.sentence),),
                f"{note.author}, {note.created_at[:10]}",
            ),
        )
        for number, note in enumerate(notes)
    ]
    table(
        _COLUMNS,
        rows,
        key="notes-listed",
        action="none",
        on_event=partial(go_to, state),
        caption="Flags and comments on this instance",
        height=240,
    )


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


def _draw_form(dataset: DatasetInfo, instance: Instance, sentence: int | None, notes: Sequence[Note]) -> None:
    """One author's note on the sentence that is chosen, or on the whole instance."""
    places = ["The whole instance", *([] if sentence is None else [f"Sentence {sentence}"])]
    place = st.segmented_control(
        "On", places, required=True, default=places[-1], key=f"note-place-{instance.id}-{sentence}"
    )
    if sentence is None:
        st.caption("Click a sentence in the paper to flag that one.")
    on, author = (None if place == places[0] else sentence), session_text("author")
    own = next(
        (note for note in notes if (note.run_id, note.sentence, note.author) == ("", on, author)), None
    )
    ident = f"{instance.id}-{on}-{own.created_at if own else ''}"
    with st.form(f"note-{ident}", border=False):
        st.checkbox("⚑ Flag", own.flagged if own else False, key=f"flag-{ident}")
        st.text_area("Comment", own.text if own else "", height=90, key=f"comment-{ident}")
        st.text_input("Author", author, max_chars=200, placeholder="Initials", key=f"author-{ident}")
        note = Note(instance_id=instance.id, author="", dataset=dataset.name, sentence=on)
        st.form_submit_button("Save", type="primary", on_click=_save, args=(note, own, ident))


def _save(place: Note, own: Note | None, ident: str) -> None:
    """Keep what the form says in the place of the note that it was drawn with; nothing takes that back."""
    flagged, text, author = (widget_value(f"{name}-{ident}") for name in ("flag", "comment", "author"))
    set_session_text("author", author.strip())
    if own is None and not (flagged or text.strip()):
        st.error("Flag it or write a comment.")
        return
    try:
        note = replace(place, author=author, flagged=flagged, text=text)
        stored = NoteStore(resources.store()).add(note)
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    flash("Noted." if stored.says_something else "Taken back.")


def _words(note: Note, names: Mapping[str, str]) -> str:
    """What a note says; ``names`` of runs and aspects, by id."""
    run, aspect = (names.get(name, name) for name in (note.run_id, note.aspect_id))
    about = f"{aspect} missed by {run}" if run else ""
    text = " · ".join(filter(None, (about, cause_title(note.cause), ", ".join(note.tags), note.text)))
    return f"⚑ {text or 'Flagged'}" if note.flagged else text
