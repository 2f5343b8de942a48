"""Analysts' notes on a run's missed aspects, kept beside the data.

Append-only: a note is never changed or deleted; the newest of an author on a miss is what the author says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import SettingError
from evidencebench_core.runs.store import RunStore

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_LONGEST: Final = {"author": 200, "text": 20_000, "tag": 100}


@dataclass(frozen=True, slots=True)
class Note:
    """One author's note on one miss."""

    run_id: str
    task: str
    instance_id: str
    aspect_id: str
    author: str
    cause: str | None = None
    tags: tuple[str, ...] = ()
    text: str = ""
    created_at: str = ""


_FIELDS: Final = tuple(field.name for field in fields(Note))
NOTE_COLUMNS: Final = ("instance_id", "aspect_id", "run_id", "task", *_FIELDS[4:])


class NoteStore:
    """The notes of a `Store`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, note: Note) -> Note:
        """Keep a note; the same note with its time.

        White space around author, tags and text goes; empty and repeated tags too.
        """
        tags = tuple(dict.fromkeys(filter(None, (tag.strip() for tag in note.tags))))
        author, text, cause = note.author.strip(), note.text.strip(), note.cause or None
        if not author:
            raise SettingError("note", "has no author", "Say who writes it: initials will do.")
        if not (cause or tags or text):
            raise SettingError("note", "says nothing", "Choose a cause, add a tag or write something.")
        lengths = {"author": len(author), "text": len(text), "tag": max(map(len, tags), default=0)}
        for name, length in lengths.items():
            if length > _LONGEST[name]:
                raise SettingError(
                    f"note, {name}", f"has {length:,} characters", f"Keep it to {_LONGEST[name]:,}."
                )
        run_id, now = RunStore(self.store).run(note.run_id).id, datetime.now(UTC)
        moment = now.isoformat(timespec="milliseconds")
        stored = replace(
            note, run_id=run_id, author=author, cause=cause, tags=tags, text=text, created_at=moment
        )
        with self.store.write() as db:
            db.execute(
                f"INSERT INTO notes ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))})",
                tuple((asdict(stored) | {"tags": json.dumps(tags)}).values()),
            )
        return stored

    def notes(self, run_id: str, task: str | None = None, *, history: bool = False) -> tuple[Note, ...]:
        """The notes on a run, oldest first: of each author the newest on each miss, or all of them."""
        with self.store.read() as db:
            rows = db.execute(
                f"SELECT {', '.join(_FIELDS)}"
                " FROM notes WHERE run_id = ? AND (? IS NULL OR task = ?) ORDER BY id",
                (run_id, task, task),
            ).fetchall()
        notes = [
            replace(note, tags=tuple(json.loads(str(note.tags)))) for note in (Note(*row) for row in rows)
        ]
        if history:
            return tuple(notes)
        newest: dict[tuple[str, ...], Note] = {}
        for note in notes:
            key = (note.task, note.instance_id, note.aspect_id, note.author)
            newest.pop(key, None)  # so that the newest stands last
            newest[key] = note
        return tuple(newest.values())


def note_rows(notes: Sequence[Note]) -> list[dict[str, Any]]:
    """One flat row a note for a table, keyed by instance and aspect (`NOTE_COLUMNS`); tags joined by "; "."""
    return [
        {name: "; ".join(note.tags) if name == "tags" else getattr(note, name) for name in NOTE_COLUMNS}
        for note in notes
    ]


def nested_notes(notes: Sequence[Note]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Notes by instance id and aspect id, for JSON."""
    nested: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for note in notes:
        values = asdict(note) | {"tags": list(note.tags)}
        by_aspect = nested.setdefault(values.pop("instance_id"), {})
        by_aspect.setdefault(values.pop("aspect_id"), []).append(values)
    return nested
