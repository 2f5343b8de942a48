"""Readers' notes: on an instance, on a sentence of it, on an aspect that a run missed.

Append-only: the newest note of an author on a place counts, and an empty one retracts the earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from evidencebench_core.data.primitives import now
from evidencebench_core.errors import SettingError
from evidencebench_core.runs.store import RunStore

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_PLACE: Final = ("instance_id", "author", "sentence", "run_id", "task", "aspect_id")


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


def note_rows(notes: Sequence[Note]) -> list[dict[str, Any]]:
    """One flat row a note for a table; tags joined by "; "."""
    return [asdict(note) | {"tags": "; ".join(note.tags)} for note in notes]
