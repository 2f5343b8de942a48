"""All notes on a dataset as a table, with the words that they are about."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.runs.notes import NoteStore, note_rows
from evidencebench_core.words import quantity

COLUMNS: Final = (
    "instance_id", "sentence", "flagged", "author", "text", "tags", "created_at",
    "run_id", "task", "aspect_id", "cause",
)  # fmt: skip


def dataset_notes(
    store: Store, dataset: str, ids: Collection[str] | None = None, *, flagged: bool = False
) -> Report:
    """Of each author the newest note on each instance, sentence and miss, in the order of the file.

    ``ids`` leaves notes on other instances out, ``flagged`` those that flag nothing.

    Returns
    -------
    Report
        *notes*: ``instance_id``, ``hypothesis``, ``sentence`` and ``sentence_text`` (none where the note is not on
        one sentence), ``flagged``, ``author``, ``text``, ``tags`` (joined by "; "), ``created_at``; of a note on an
        aspect that a run missed also ``run_id``, ``task``, ``aspect_id`` and ``cause``.
    """
    info = store.dataset(dataset)
    notes = [
        note
        for note in NoteStore(store).notes_on(info.name)
        if (ids is None or note.instance_id in ids) and (note.flagged or not flagged)
    ]
    rows = {row.id: row for row in store.rows(info.name, dict.fromkeys(note.instance_id for note in notes))}
    on_sentences = {note.instance_id for note in notes if note.sentence is not None}
    papers = {paper.id: paper.sentences for paper in store.get_many(info.name, on_sentences)}
    notes.sort(
        key=lambda n: (rows[n.instance_id].position, n.run_id, -1 if n.sentence is None else n.sentence)
    )
    frame = pd.DataFrame(note_rows(notes), columns=list(COLUMNS)).astype({"sentence": "Int64"})
    texts = [None if note.sentence is None else papers[note.instance_id][note.sentence] for note in notes]
    frame.insert(1, "hypothesis", [rows[note.instance_id].hypothesis for note in notes])
    frame.insert(3, "sentence_text", texts)
    n_flags = sum(note.flagged for note in notes)
    return Report(
        f"Notes: {info.name}",
        {"notes": frame},
        (f"{quantity(len(notes), 'note')} on {quantity(len(rows), 'instance')}, {n_flags:,} of them flags.",),
    )
