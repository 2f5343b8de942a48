"""Readers' notes, kept beside the data: on an instance, on a sentence of it, on an aspect that a run missed.

Append-only: a note is never changed or deleted; the newest of an author on a thing is what the author says of
it, and one that says nothing takes back what was said.
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

_LONGEST: Final = {"author": 200, "text": 20_000, "tag": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One author's note on one thing.

    On a miss: the run, the task and the aspect are given, and the dataset is the run's. On anything else: the
    dataset is, and the sentence where it is on one.
    """

    instance_id: str
    author: str
    dataset: str = ""
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
_COLUMNS: Final = ", ".join(
    {"dataset": "d.name", "run_id": "ifnull(n.run_id, '')"}.get(name, f"n.{name}") for name in _FIELDS
)
_NEWEST: Final = """SELECT coalesce(max(created_at), '') FROM notes WHERE instance_id = :instance_id
    AND dataset_id = (SELECT id FROM datasets WHERE name = :dataset) AND author = :author AND sentence IS :sentence
    AND run_id IS :run_id AND task = :task AND aspect_id = :aspect_id"""
NOTE_COLUMNS: Final = (
    "instance_id", "aspect_id", "run_id", "task", "author", "cause", "tags", "text", "created_at",
)  # fmt: skip


class NoteStore:
    """The notes of a `Store`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, note: Note, seen: str | None = None) -> Note:
        """Keep a note; the same note with its time.

        ``seen`` is the time of the author's note on this thing that it takes the place of, ``""`` for none.

        White space around author, tags and text goes; empty and repeated tags too. Only a note on a miss has to say
        something.

        Raises
        ------
        SettingError
            A note without an author, too long, or without anything to say; or another one stands than was seen.
        UnknownNameError, SelectionError
            No such run, dataset, instance or sentence.
        """
        note = checked_note(note)
        stored = replace(self._with_place(note), created_at=now("milliseconds"))
        values = asdict(stored) | {"tags": json.dumps(stored.tags), "run_id": stored.run_id or None}
        names = [name for name in _FIELDS if name != "dataset"]
        with self.store.write() as db:
            newest = db.execute(_NEWEST, values).fetchone()[0]
            if seen is not None and newest != seen:
                remedy = "Look at what stands now, and save again."
                written = f" You wrote: {shown(note.text, 2000)}" if note.text else ""
                raise SettingError("note", "was changed in another window meanwhile", remedy + written)
            db.execute(
                f"INSERT INTO notes (dataset_id, {', '.join(names)})"
                f" VALUES ((SELECT id FROM datasets WHERE name = :dataset), {', '.join(f':{n}' for n in names)})",
                values,
            )
        return stored

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

    def notes(self, run_id: str, task: str | None = None, *, history: bool = False) -> tuple[Note, ...]:
        """The notes on a run, oldest first: of each author the newest on each miss, or all of them."""
        where = "n.run_id = ? AND (? IS NULL OR n.task = ?)"
        return self._notes(where, (run_id, task, task), history)

    def notes_on(
        self, dataset: str, instance_id: str | None = None, *, history: bool = False
    ) -> tuple[Note, ...]:
        """All notes on a dataset, on misses too, or those on one instance: of each author the newest on each thing."""
        where = "n.dataset_id = ? AND (? IS NULL OR n.instance_id = ?)"
        return self._notes(where, (self.store.dataset(dataset).id, instance_id, instance_id), history)

    def _notes(self, where: str, values: Sequence[object], history: bool) -> tuple[Note, ...]:
        with self.store.read() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM notes AS n JOIN datasets AS d ON d.id = n.dataset_id"
                f" WHERE {where} ORDER BY n.created_at, n.id",
                values,
            ).fetchall()
        notes = [Note(**dict(zip(_FIELDS, row, strict=True))) for row in rows]
        notes = [
            replace(note, tags=tuple(json.loads(str(note.tags))), flagged=bool(note.flagged))
            for note in notes
        ]
        if history:
            return tuple(notes)
        newest: dict[tuple[object, ...], Note] = {}
        for note in notes:
            place = (note.instance_id, note.sentence, note.run_id, note.task, note.aspect_id, note.author)
            newest.pop(place, None)  # so that the newest stands last
            newest[place] = note
        return tuple([note for note in newest.values() if note.says_something])


def checked_note(note: Note) -> Note:
    """The note as it is kept; `SettingError` for one that cannot be."""
    tags = tuple(dict.fromkeys(filter(None, (tag.strip() for tag in note.tags))))
    note = replace(
        note, author=note.author.strip(), text=note.text.strip(), cause=note.cause or None, tags=tags
    )
    if not note.author:
        raise SettingError("note", "has no author", "Say who writes it: initials will do.")
    if note.run_id and not note.says_something:
        raise SettingError("note", "says nothing", "Choose a cause, add a tag or write something.")
    lengths = {"author": len(note.author), "text": len(note.text), "tag": max(map(len, tags), default=0)}
    for name, length in lengths.items():
        if length > _LONGEST[name]:
            raise SettingError(
                f"note, {name}", f"has {length:,} characters", f"Keep it to {_LONGEST[name]:,}."
            )
    return note


def note_rows(notes: Sequence[Note], columns: Sequence[str] = NOTE_COLUMNS) -> list[dict[str, Any]]:
    """One flat row a note for a table, of a note on a miss `NOTE_COLUMNS`; tags joined by "; "."""
    return [
        {name: "; ".join(note.tags) if name == "tags" else getattr(note, name) for name in columns}
        for note in notes
    ]


def nested_notes(notes: Sequence[Note]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Notes on misses by instance id and aspect id, for JSON."""
    nested: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for note in notes:
        (values,) = note_rows([note])
        by_aspect = nested.setdefault(values.pop("instance_id"), {})
        by_aspect.setdefault(values.pop("aspect_id"), []).append(values | {"tags": list(note.tags)})
    return nested
