"""Notes on an instance, its sentences and what runs missed of it, as the list and the reader show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components import resources
from components.browse.note_form import draw_note_form
from components.controls import chip_table, sentence_chip
from components.state import PageState, session_text
from components.table import Column, Row
from evidencebench_core.analyses.causes import cause_title
from evidencebench_core.analyses.notes import Note
from evidencebench_core.data import DatasetInfo, Instance
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


def _words(note: Note, names: Mapping[str, str]) -> str:
    """What a note says; ``names`` of runs and aspects, by id."""
    run, aspect = (names.get(name, name) for name in (note.run_id, note.aspect_id))
    about = f"{aspect} missed by {run}" if run else ""
    text = " · ".join(filter(None, (about, cause_title(note.cause), ", ".join(note.tags), note.text)))
    return f"⚑ {text or 'Flagged'}" if note.flagged else text
