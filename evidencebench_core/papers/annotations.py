"""Annotations in the store: every save is a revision, and undo and redo walk over them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.annotation import Annotation, changed_parts
from evidencebench_core.papers.blocks import clean_text

_LONGEST_ANNOTATOR: Final = 200
_HEAD: Final = "INSERT OR REPLACE INTO annotation_heads (paper, annotator, revision) VALUES (?, ?, ?)"
_PARENT: Final = "SELECT parent FROM annotations WHERE paper = ? AND annotator = ? AND revision = ?"
_CHILD: Final = "SELECT max(revision) FROM annotations WHERE paper = ? AND annotator = ? AND parent = ?"


@dataclass(frozen=True, slots=True)
class Revision:
    """Where an annotator stands on a paper."""

    annotation: Annotation | None  # None before the first save, and after all was undone
    number: int  # from 1; 0 where there is no annotation
    can_undo: bool
    can_redo: bool


class Annotations:
    """The annotations of a `Store`.

    ``paper`` is everywhere a key: ``OwnPaper.key``, or ``"instance:<dataset sha256>:<instance id>"``.
    Every method raises `StoreError` if the store cannot be used.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def save(self, paper: str, annotation: Annotation) -> Revision:
        """Keep an annotation as a new revision, made from the one that stands; the same again is not kept."""
        return self.edit(paper, annotation, lambda _: annotation)

    def edit(
        self,
        paper: str,
        blank: Annotation,
        change: Callable[[Annotation], Annotation],
        seen: int | None = None,
    ) -> Revision:
        """Keep what a change makes of what stands now, read and written in one transaction.

        Parameters
        ----------
        blank : Annotation
            What it is made of where nothing stands; names the annotator.
        seen : int, optional
            The revision that whoever makes the change has before them. What was changed elsewhere since stays.

        Raises
        ------
        PaperError
            If the same part was changed since ``seen``: nothing is kept then.
        """
        annotator = _annotator(blank.annotator)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self.store.write() as db:
            head = _head(db, paper, annotator)
            standing = _annotation(db, paper, annotator, head)
            made = change(standing or blank)
            if seen is not None and seen != head:
                _check_apart(_annotation(db, paper, annotator, seen) or blank, standing or blank, made)
            if made != standing:
                newest = (
                    "SELECT coalesce(max(revision), 0) FROM annotations WHERE paper = ? AND annotator = ?"
                )
                number = db.execute(newest, (paper, annotator)).fetchone()[0] + 1
                body = json.dumps(made.as_dict(), ensure_ascii=False)
                db.execute(
                    "INSERT INTO annotations (paper, annotator, hypothesis, body, revision, parent, created_at)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (paper, annotator, made.hypothesis, body, number, head, now),
                )
                _set_head(db, paper, annotator, number)
            return _revision(db, paper, annotator)

    def latest(self, paper: str, annotator: str) -> Revision:
        """The revision that stands now."""
        with self.store.read() as db:
            return _revision(db, paper, _annotator(annotator))

    def undo(self, paper: str, annotator: str, seen: int | None = None) -> Revision:
        """Go one revision back, nowhere from the first; `PaperError` where another stands than the one ``seen``."""
        return self._walk(paper, _annotator(annotator), _PARENT, seen)

    def redo(self, paper: str, annotator: str, seen: int | None = None) -> Revision:
        """Bring back the revision that was undone last; a save after an undo goes its own way."""
        return self._walk(paper, _annotator(annotator), _CHILD, seen)

    def _walk(self, paper: str, annotator: str, query: str, seen: int | None) -> Revision:
        with self.store.write() as db:
            head = _head(db, paper, annotator)
            if seen is not None and seen != head:
                raise _changed_elsewhere("annotation")
            row = db.execute(query, (paper, annotator, head)).fetchone()
            if row is not None and row[0] is not None:
                _set_head(db, paper, annotator, row[0])
            return _revision(db, paper, annotator)

    def annotators(self, paper: str) -> tuple[str, ...]:
        """Who has something that stands on a paper, in the order of the alphabet."""
        query = "SELECT annotator FROM annotation_heads WHERE paper = ? AND revision > 0 ORDER BY annotator"
        with self.store.read() as db:
            return tuple([row[0] for row in db.execute(query, (paper,))])

    def papers(self) -> tuple[str, ...]:
        """The keys of all papers on which something stands."""
        query = "SELECT DISTINCT paper FROM annotation_heads WHERE revision > 0 ORDER BY paper"
        with self.store.read() as db:
            return tuple([row[0] for row in db.execute(query)])


def _annotator(name: str) -> str:
    called = clean_text(name)
    if not called:
        raise PaperError("annotator", "has no name", "Say who marks: initials will do.")
    if len(called) > _LONGEST_ANNOTATOR:
        problem = f"has a name of {len(called):,} characters"
        raise PaperError("annotator", problem, f"Keep it to {_LONGEST_ANNOTATOR}.")
    return called


def _head(db: sqlite3.Connection, paper: str, annotator: str) -> int:
    query = "SELECT revision FROM annotation_heads WHERE paper = ? AND annotator = ?"
    row = db.execute(query, (paper, annotator)).fetchone()
    return 0 if row is None else int(row[0])


def _set_head(db: sqlite3.Connection, paper: str, annotator: str, revision: int) -> None:
    db.execute(_HEAD, (paper, annotator, revision))


def _annotation(db: sqlite3.Connection, paper: str, annotator: str, revision: int) -> Annotation | None:
    query = "SELECT hypothesis, body FROM annotations WHERE paper = ? AND annotator = ? AND revision = ?"
    row = db.execute(query, (paper, annotator, revision)).fetchone()
    return None if row is None else Annotation.from_dict(annotator, row[0], json.loads(row[1]))


def _check_apart(seen: Annotation, standing: Annotation, made: Annotation) -> None:
    """An error where a change touches what was changed elsewhere since it was seen."""
    both = changed_parts(standing, made) & changed_parts(seen, standing)
    if both:
        kind, which = min(both, key=str)
        names = {
            aspect.id: f"A{n}" for n, aspect in enumerate((standing if standing.aspects else seen).aspects, 1)
        }
        raise _changed_elsewhere(f"{kind} {names.get(str(which), which)}".strip())


def _changed_elsewhere(place: str) -> PaperError:
    remedy = "Nothing was changed here: look at what stands now, then do it again."
    return PaperError(place, "was changed in another window meanwhile", remedy)


def _revision(db: sqlite3.Connection, paper: str, annotator: str) -> Revision:
    head = _head(db, paper, annotator)
    annotation = _annotation(db, paper, annotator, head)
    child = db.execute(_CHILD, (paper, annotator, head)).fetchone()[0]
    return Revision(annotation, head, can_undo=head > 0, can_redo=child is not None)
