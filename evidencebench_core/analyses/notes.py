"""Readers' notes: on an instance, on a sentence of it, on an aspect that a run missed; and all of them as a table.

Append-only: the newest note of an author on a place counts, and an empty one retracts the earlier one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Final

import pandas as pd
from pydantic import TypeAdapter

from evidencebench_core.analyses.report import Report
from evidencebench_core.data.primitives import now
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.runs.store import RunStore
from evidencebench_core.words import quantity

_PLACE: Final = ("instance_id", "author", "sentence", "run_id", "task", "aspect_id")
COLUMNS: Final = (
    "instance_id", "sentence", "flagged", "author", "text", "tags", "created_at",
    "run_id", "task", "aspect_id", "cause",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One author's note: on a miss it names run, task and aspect, on anything else the dataset."""

    instance_id: str
    author: str
    dataset: str = ""  # of a note on a miss: the run's
    sentence: int | None = None
    run_id: str = ""
    task: str = ""
    aspect_id: str = ""
    flagged: bool = False
    cause: str | None = None
    tags: tuple[str, ...] = ()
    text: str = ""
    created_at: str = ""

    @property
    def says_something(self) -> bool:
        return bool(self.flagged or self.cause or self.tags or self.text)


_NOTE: Final = TypeAdapter(Note)


class NoteStore:
    """The notes of a `Store`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, note: Note) -> Note:
        """Store a note, tidied, and return it with its time.

        `SettingError` for one without an author, or empty on a miss; `UnknownNameError` if there is no such run,
        dataset or instance.
        """
        note = replace(
            note,
            author=note.author.strip(),
            text=note.text.strip(),
            tags=tuple(dict.fromkeys(filter(None, map(str.strip, note.tags)))),
            cause=note.cause or None,
            created_at=now("milliseconds"),
        )
        if not note.author:
            raise SettingError("note", "has no author", "Say who writes it: initials will do.")
        if note.run_id and not note.says_something:
            raise SettingError("note", "says nothing", "Choose a cause, add a tag or write something.")
        if note.run_id:
            run = RunStore(self.store).run(note.run_id)
            note = replace(note, run_id=run.id, dataset=run.dataset)
        self.store.rows(note.dataset, [note.instance_id])  # it is there
        dataset_id = self.store.dataset(note.dataset).id
        place = json.dumps([getattr(note, name) for name in _PLACE])
        values = (dataset_id, note.instance_id, note.run_id or None, place, _NOTE.dump_json(note).decode())
        with self.store.write() as db:
            sql = "INSERT INTO notes (dataset_id, instance_id, run_id, place, body) VALUES (?, ?, ?, ?, ?)"
            db.execute(sql, values)
        return note

    def notes(self, run_id: str, task: str | None = None) -> tuple[Note, ...]:
        """The newest note of each author on each miss of a run, oldest first."""
        notes = self._notes("run_id = ?", run_id)
        return tuple(note for note in notes if task in (None, note.task))

    def notes_on(self, dataset: str) -> tuple[Note, ...]:
        """The newest note of each author on each place of a dataset, misses too, oldest first."""
        return self._notes("dataset_id = ?", self.store.dataset(dataset).id)

    def _notes(self, where: str, value: object) -> tuple[Note, ...]:
        sql = f"""SELECT max(notes.id), body, name FROM notes JOIN datasets ON datasets.id = dataset_id
            WHERE {where} GROUP BY dataset_id, place ORDER BY 1"""
        with self.store.read() as db:  # the dataset may have another name by now
            notes = [
                replace(_NOTE.validate_json(body), dataset=name)
                for _, body, name in db.execute(sql, (value,))
            ]
        return tuple(note for note in notes if note.says_something)


def dataset_notes(store: Store, dataset: str, *, flagged: bool = False) -> Report:
    """Of each author the newest note on each instance, sentence and miss, in the order of the file.

    ``flagged`` leaves out those that flag nothing.

    Returns
    -------
    Report
        *notes*: ``instance_id``, ``hypothesis``, ``sentence`` and ``sentence_text`` (none where the note is not on
        one sentence), ``flagged``, ``author``, ``text``, ``tags`` (joined by "; "), ``created_at``; of a note on an
        aspect that a run missed also ``run_id``, ``task``, ``aspect_id`` and ``cause``.
    """
    info = store.dataset(dataset)
    notes = [note for note in NoteStore(store).notes_on(info.name) if note.flagged or not flagged]
    rows = {row.id: row for row in store.rows(info.name, dict.fromkeys(note.instance_id for note in notes))}
    on_sentences = {note.instance_id for note in notes if note.sentence is not None}
    papers = {paper.id: paper.sentences for paper in store.get_many(info.name, on_sentences)}
    notes.sort(
        key=lambda n: (rows[n.instance_id].position, n.run_id, -1 if n.sentence is None else n.sentence)
    )
    flat = [asdict(note) | {"tags": "; ".join(note.tags)} for note in notes]
    frame = pd.DataFrame(flat, columns=list(COLUMNS)).astype({"sentence": "Int64"})
    texts = [None if note.sentence is None else papers[note.instance_id][note.sentence] for note in notes]
    frame.insert(1, "hypothesis", [rows[note.instance_id].hypothesis for note in notes])
    frame.insert(3, "sentence_text", texts)
    n_flags = sum(note.flagged for note in notes)
    return Report(
        f"Notes: {info.name}",
        {"notes": frame},
        (f"{quantity(len(notes), 'note')} on {quantity(len(rows), 'instance')}, {n_flags:,} of them flags.",),
    )
