"""Analysts' notes on a run's missed aspects, kept beside the data.

Append-only: a note is never changed or deleted; the newest of an author on a miss is what the author says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import SettingError

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store


_LONGEST: Final = {"author": 200, "text": 20_000, "tag": 100}
NOTE_COLUMNS: Final = (
    "instance_id", "aspect_id", "run_id", "task", "author", "cause", "tags", "text", "created_at",
)  # fmt: skip
_FIELDS: Final = (
    "run_id",
    "task",
    "instance_id",
    "aspect_id",
    "author",
    "cause",
    "tags",
    "text",
    "created_at",
)


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


class NoteStore:
    """The notes of a `Store`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, note: Note) -> Note:
        """Keep a note; the same note with its time.

        White space around author, tags and text goes; empty and repeated tags too.
        """
        from evidencebench_core.runs.store import RunStore

        tags = tuple(dict.fromkeys(filter(None, (tag.strip() for tag in note.tags))))
        author, text = note.author.strip(), note.text.strip()
        if not author:
            raise SettingError("note", "has no author", "Say who writes it: initials will do.")
        if not (note.cause or tags or text):
            raise SettingError("note", "says nothing", "Choose a cause, add a tag or write something.")
        lengths = {"author": len(author), "text": len(text), "tag": max(map(len, tags), default=0)}
        for name, length in lengths.items():
            if length > _LONGEST[name]:
                raise SettingError(
                    f"note, {name}", f"has {length:,} characters", f"Keep it to {_LONGEST[name]:,}."
                )
        run_id = RunStore(self.store).run(note.run_id).id
        kept = Note(
            run_id,
            note.task,
            note.instance_id,
            note.aspect_id,
            author,
            note.cause or None,
            tags,
            text,
            _now(),
        )
        with self.store.write() as db:
            db.execute(
                "INSERT INTO notes"
                " (run_id, task, instance_id, aspect_id, author, cause, tags, text, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(kept.run_id, kept.task, kept.instance_id, kept.aspect_id, kept.author, kept.cause),
                    *(json.dumps(kept.tags), kept.text, kept.created_at),
                ),
            )
        return kept

    def notes(self, run_id: str, task: str | None = None, *, history: bool = False) -> tuple[Note, ...]:
        """The notes on a run, oldest first: of each author the newest on each miss, or all of them."""
        with self.store.read() as db:
            rows = db.execute(
                f"SELECT {', '.join(_FIELDS)}"
                " FROM notes WHERE run_id = ? AND (? IS NULL OR task = ?) ORDER BY id",
                (run_id, task, task),
            ).fetchall()
        found = [Note(**{**row, "tags": tuple(json.loads(row["tags"]))}) for row in map(_fields, rows)]
        return tuple(found if history else _newest(found))

    def authors(self) -> tuple[str, ...]:
        """Everybody who has written a note, last first."""
        with self.store.read() as db:
            rows = db.execute("SELECT author FROM notes GROUP BY author ORDER BY max(id) DESC")
            return tuple([author for (author,) in rows])


def _fields(row: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_FIELDS, row, strict=True))


def _newest(notes: Iterable[Note]) -> list[Note]:
    by_miss: dict[tuple[str, ...], Note] = {}
    for note in notes:
        key = (note.task, note.instance_id, note.aspect_id, note.author)
        by_miss.pop(key, None)  # so that the newest stands last
        by_miss[key] = note
    return list(by_miss.values())


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
        said = {
            name: value for name, value in asdict(note).items() if name not in {"instance_id", "aspect_id"}
        }
        said["tags"] = list(note.tags)
        nested.setdefault(note.instance_id, {}).setdefault(note.aspect_id, []).append(said)
    return nested


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
