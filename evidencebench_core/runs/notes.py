"""Readers' notes: on an instance, on a sentence of it, on an aspect that a run missed.

Append-only: the newest note of an author on a place counts, and an empty one retracts the earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.records import now
from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.runs.store import RunStore

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_LONGEST: Final = {"author": 200, "text": 20_000, "tags": 2_000}


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


_FIELDS: Final = tuple(field.name for field in fields(Note))
_PLACE: Final = "dataset_id, instance_id, author, sentence, run_id, task, aspect_id"
_DATASET: Final = "(SELECT id FROM datasets WHERE name = :dataset AND ingested_at <> '')"
NOTE_COLUMNS: Final = (
    "instance_id", "aspect_id", "run_id", "task", "author", "cause", "tags", "text", "created_at",
)  # fmt: skip


class NoteStore:
    """The notes of a `Store`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, note: Note, seen: str | None = None) -> Note:
        """Store a note, tidied, and return it with its time; ``seen`` is the time of the note it replaces, or ``""``.

        Raises
        ------
        SettingError
            A note without an author, too long, or empty on a miss; another one stands than was seen.
        UnknownNameError, SelectionError
            No such run, dataset, instance or sentence.
        """
        note = self._with_place(_tidy(note))
        values = asdict(note) | {"tags": json.dumps(note.tags), "run_id": note.run_id or None}
        with self.store.write() as db:
            newest = db.execute(
                f"""SELECT coalesce(max(created_at), '') FROM notes WHERE ({_PLACE})
                IS ({_DATASET}, :instance_id, :author, :sentence, :run_id, :task, :aspect_id)""",
                values,
            ).fetchone()[0]
            if seen not in (None, newest):
                text = f" You wrote: {shown(note.text, 2000)}" if note.text else ""
                remedy = f"Reload the note, then save again.{text}"
                raise SettingError("note", "was changed in another window meanwhile", remedy)
            db.execute(
                f"""INSERT INTO notes ({_PLACE}, flagged, cause, tags, text, created_at)
                VALUES ({_DATASET}, :instance_id, :author, :sentence, :run_id, :task, :aspect_id,
                    :flagged, :cause, :tags, :text, :created_at)""",
                values,
            )
        return note

    def _with_place(self, note: Note) -> Note:
        """The note with its run's whole id and dataset; an error where there is no such place."""
        if note.run_id:
            run = RunStore(self.store).run(note.run_id)
            note = replace(note, run_id=run.id, dataset=run.dataset)
        (row,) = self.store.rows(note.dataset, [note.instance_id])
        if note.sentence is not None and not 0 <= note.sentence < row.n_sentences:
            raise SelectionError(
                f"note on {note.instance_id}",
                f"is on sentence {note.sentence} of a paper with {row.n_sentences}",
                f"Sentence indices run from 0 to {row.n_sentences - 1}.",
            )
        return note

    def notes(self, run_id: str, task: str | None = None) -> tuple[Note, ...]:
        """The newest note of each author on each miss of a run, oldest first."""
        return self._notes("run_id = ? AND (? IS NULL OR task = ?)", run_id, task, task)

    def notes_on(self, dataset: str) -> tuple[Note, ...]:
        """The newest note of each author on each place of a dataset, misses too, oldest first."""
        return self._notes("datasets.id = ?", self.store.dataset(dataset).id)

    def _notes(self, where: str, *values: object) -> tuple[Note, ...]:
        columns = ", ".join({"dataset": "name", "run_id": "ifnull(run_id, '')"}.get(f, f) for f in _FIELDS)
        with self.store.read() as db:
            rows = db.execute(
                f"""SELECT {columns} FROM notes JOIN datasets ON datasets.id = dataset_id
                WHERE notes.id IN (SELECT max(id) FROM notes GROUP BY {_PLACE}) AND {where} ORDER BY notes.id""",
                values,
            ).fetchall()
        raw = [Note(**dict(zip(_FIELDS, row, strict=True))) for row in rows]
        notes = [
            replace(note, tags=tuple(json.loads(str(note.tags))), flagged=bool(note.flagged)) for note in raw
        ]
        return tuple(note for note in notes if note.says_something)


def _tidy(note: Note) -> Note:
    """The note as it is stored, with its time; `SettingError` for one that cannot be."""
    tags = tuple(dict.fromkeys(filter(None, map(str.strip, note.tags))))
    author, text = note.author.strip(), note.text.strip()
    moment = now("milliseconds")
    note = replace(note, author=author, text=text, tags=tags, cause=note.cause or None, created_at=moment)
    if not author:
        raise SettingError("note", "has no author", "Say who writes it: initials will do.")
    if note.run_id and not note.says_something:
        raise SettingError("note", "says nothing", "Choose a cause, add a tag or write something.")
    lengths = {"author": len(author), "text": len(text), "tags": sum(map(len, tags))}
    for name, length in lengths.items():
        if length > _LONGEST[name]:
            problem = f"has {length:,} characters"
            raise SettingError(f"note, {name}", problem, f"Keep it to {_LONGEST[name]:,}.")
    return note


def note_rows(notes: Sequence[Note], columns: Sequence[str] = NOTE_COLUMNS) -> list[dict[str, Any]]:
    """One flat row a note for a table; tags joined by "; "."""
    rows = [asdict(note) | {"tags": "; ".join(note.tags)} for note in notes]
    return [{name: row[name] for name in columns} for row in rows]
