"""Taking the notes along."""

from __future__ import annotations

import csv
import io
import json

import streamlit as st

from components.missed.queue import Queue
from evidencebench_core.runs.notes import NOTE_COLUMNS, Note, nested_notes, note_rows

__all__ = ["draw_export", "notes_csv", "notes_json"]


def draw_export(queue: Queue) -> None:
    """Two downloads, once there is something to take."""
    notes = [note for said in queue.notes.values() for note in said]
    if not notes:
        return
    name = f"notes-{queue.run.id}-{queue.task.name}"
    with st.popover(f"Export {len(notes):,} note{'' if len(notes) == 1 else 's'}"):
        st.download_button("CSV", notes_csv(notes), f"{name}.csv", "text/csv", on_click="ignore")
        st.download_button("JSON", notes_json(notes), f"{name}.json", "application/json", on_click="ignore")


def notes_csv(notes: list[Note]) -> str:
    """One line a note, keyed by instance and aspect."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, NOTE_COLUMNS)
    writer.writeheader()
    writer.writerows(note_rows(notes))
    return stream.getvalue()


def notes_json(notes: list[Note]) -> str:
    """Notes by instance, then by aspect."""
    return json.dumps(nested_notes(notes), indent=2)
