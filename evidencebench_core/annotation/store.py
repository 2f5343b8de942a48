"""Annotations in the store: of a paper and an annotator one JSON, with the earlier states that undo goes back to.

A model's are the results of its runs, and are read from those.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from evidencebench_core.annotation.model import MODEL, Annotation
from evidencebench_core.data.primitives import from_blob, now
from evidencebench_core.data.store import Store

PROPOSALS: Final = ("annotation", "proposals")
"""Kind and subject of the runs that propose; a unit is a paper's key, a slash, and 12 digits."""

_MAX_STATES: Final = 100
_PAPER: Final = "substr(unit, 1, length(unit) - 13)"
_PROPOSED: Final = f"""FROM results JOIN runs ON runs.id = run_id
    WHERE (kind, subject) = {PROPOSALS} AND question = '' AND error IS NULL"""
_OF_PAPER: Final = f"{_PROPOSED} AND unit BETWEEN ?1 || '/' AND ?1 || '0' AND {_PAPER} = ?1"


@dataclass(frozen=True, slots=True)
class Revision:
    """Where an annotator stands on a paper."""

    annotation: Annotation | None  # None before the first save, and after all was undone
    number: int  # goes up with every save, undo and redo; 0 where there is nothing
    can_undo: bool
    can_redo: bool


class Annotations:
    """The annotations of a `Store`.

    ``paper`` is everywhere a key: ``"own:<number>"`` or ``"instance:<dataset sha256>:<instance id>"``.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def save(self, paper: str, annotation: Annotation) -> Revision:
        """Keep an annotation; the same again is no new state."""
        return self.edit(paper, annotation, lambda _: annotation)

    def edit(self, paper: str, blank: Annotation, change: Callable[[Annotation], Annotation]) -> Revision:
        """Keep what a change makes of what stands now, or of ``blank``; read and written in one transaction."""
        with self.store.write() as db:
            history = _history(db, paper, blank.annotator)
            current = history.revision().annotation
            new = change(current or blank)
            if new != current:
                history.add(new)
                _write(db, paper, blank.annotator, history)
            return history.revision()

    def undo(self, paper: str, annotator: str) -> Revision:
        """Go one state back, nowhere from the first."""
        return self._walk(paper, annotator, -1)

    def redo(self, paper: str, annotator: str) -> Revision:
        """Bring back what was undone last; a save after an undo ends that way."""
        return self._walk(paper, annotator, 1)

    def _walk(self, paper: str, annotator: str, step: int) -> Revision:
        with self.store.write() as db:
            history = _history(db, paper, annotator)
            if 0 <= history.position + step < len(history.states):
                history.position += step
                history.number += 1
                _write(db, paper, annotator, history)
            return history.revision()

    def states(self, paper: str, annotator: str) -> tuple[Annotation, ...]:
        """The states up to the one that stands, the oldest first, as far back as they are kept."""
        with self.store.read() as db:
            history = _history(db, paper, annotator)
        states = history.states[: history.position + 1]
        return tuple(Annotation.from_dict(state) for state in states if state is not None)

    def latest(self, paper: str, annotator: str) -> Revision:
        """The state that stands now."""
        with self.store.read() as db:
            return _history(db, paper, annotator).revision()

    def get(self, paper: str, annotator: str) -> Annotation | None:
        if annotator.startswith(MODEL):
            return self.proposals(paper).get(annotator)
        return self.latest(paper, annotator).annotation

    def proposals(self, paper: str) -> dict[str, Annotation]:
        """What models propose for a paper: the newest proposal of each by its annotator's name, the newest last."""
        query = f"SELECT payload {_OF_PAPER} ORDER BY results.created_at"
        with self.store.read() as db:
            payloads = [payload for (payload,) in db.execute(query, (paper,))]
        newest: dict[str, Annotation] = {}
        for proposal in map(Annotation.from_dict, map(from_blob, payloads)):
            newest.pop(proposal.annotator, None)
            newest[proposal.annotator] = proposal
        return newest

    def annotators(self, paper: str) -> tuple[str, ...]:
        """Who has something that stands on a paper, in the order of the alphabet."""
        query = f"""SELECT annotator FROM annotations WHERE paper = ?1 AND has_marks
            UNION SELECT '{MODEL}' || (settings ->> 'model') {_OF_PAPER} ORDER BY 1"""
        with self.store.read() as db:
            return tuple([row[0] for row in db.execute(query, (paper,))])

    def papers(self) -> tuple[str, ...]:
        """The keys of all papers on which something stands."""
        query = f"""SELECT paper FROM annotations WHERE has_marks
            UNION SELECT {_PAPER} {_PROPOSED} ORDER BY 1"""
        with self.store.read() as db:
            return tuple([row[0] for row in db.execute(query)])


@dataclass
class _History:
    """The states of an annotation, the oldest first; the first, ``None``, is that before any save."""

    states: list[dict[str, Any] | None]
    position: int
    number: int

    def add(self, annotation: Annotation) -> None:
        self.states = [*self.states[: self.position + 1], annotation.as_dict()][-_MAX_STATES:]
        self.position = len(self.states) - 1
        self.number += 1

    def revision(self) -> Revision:
        state = self.states[self.position]
        annotation = None if state is None else Annotation.from_dict(state)
        return Revision(annotation, self.number, self.position > 0, self.position < len(self.states) - 1)


def _history(db: sqlite3.Connection, paper: str, annotator: str) -> _History:
    query = "SELECT body FROM annotations WHERE paper = ? AND annotator = ?"
    row = db.execute(query, (paper, annotator)).fetchone()
    return _History([None], 0, 0) if row is None else _History(**json.loads(row[0]))


def _write(db: sqlite3.Connection, paper: str, annotator: str, history: _History) -> None:
    body = json.dumps(vars(history), ensure_ascii=False)
    has_marks = history.states[history.position] is not None
    db.execute(
        "INSERT OR REPLACE INTO annotations (paper, annotator, body, has_marks, saved_at) VALUES (?, ?, ?, ?, ?)",
        (paper, annotator, body, has_marks, now()),
    )
