"""Scores that others computed, in the store: compared with each other, never with runs on other instances."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.runs.official_logs import ImportedScore, LeftOut, official_logs


@dataclass(frozen=True, slots=True)
class ScoreImport:
    """The result of importing a file of scores.

    Attributes
    ----------
    source : str
        File and the beginning of its sha256.
    scores : tuple of ImportedScore
        All complete rows.
    n_added : int
        How many of them the store did not have yet.
    left_out : tuple of LeftOut
        The other rows, with the reason.
    """

    source: str
    scores: tuple[ImportedScore, ...]
    n_added: int
    left_out: tuple[LeftOut, ...]


def import_scores(store: Store, path: Path) -> ScoreImport:
    """Keep the authors' per-instance scores; the same file again adds nothing.

    Raises
    ------
    DataError
        If the file is not what it should be; then nothing is kept.
    """
    logs = official_logs(path)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [
        (one.collection, one.system, one.strategy, one.task, json.dumps(one.recalls), one.source, now)
        for one in logs.scores
    ]
    with store.write() as db:
        before = db.total_changes
        db.executemany(
            "INSERT INTO imported_scores (collection, system, strategy, task, recalls, source, imported_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            rows,
        )
        n_added = db.total_changes - before
    return ScoreImport(logs.source, logs.scores, n_added, logs.left_out)


def imported_scores(store: Store, task: str | None = None) -> tuple[ImportedScore, ...]:
    """The imported scores, for one task or all, in the order of the file; of each name and task the newest."""
    with store.read() as db:
        rows = db.execute(
            "SELECT collection, system, strategy, task, recalls, source FROM imported_scores"
            " WHERE ?1 IS NULL OR task = ?1 ORDER BY id",
            (task,),
        ).fetchall()
    newest: dict[tuple[str, str], ImportedScore] = {}
    for collection, system, strategy, name, recalls, source in rows:
        score = ImportedScore(collection, system, strategy, name, tuple(json.loads(recalls)), source)
        newest[score.name, name] = score
    return tuple(newest.values())


def imported_named(store: Store, names: Sequence[str], task: str) -> tuple[ImportedScore, ...]:
    """Imported systems by name, upper and lower case being alike.

    Raises
    ------
    UnknownNameError
        For a name that there is not, saying which there are for the task.
    """
    known = {score.name.lower(): score for score in imported_scores(store, task)}
    found = []
    for name in names:
        score = known.get(" ".join(name.lower().split()))
        if score is None:
            raise _unknown(store, name, task, [one.name for one in known.values()])
        found.append(score)
    return tuple(found)


def _unknown(store: Store, name: str, task: str, known: Sequence[str]) -> UnknownNameError:
    place = f"imported system {shown(name)}"
    if not known:
        tasks = ", ".join(dict.fromkeys(score.task for score in imported_scores(store)))
        there = f"There are scores for: {tasks}." if tasks else "Bring them in with import-scores FILE first."
        return UnknownNameError(place, f"is not there: nothing is imported for {task}", there)
    near = difflib.get_close_matches(name, known, 1, 0.4)
    hint = f"Did you mean {shown(near[0])}? " if near else ""
    return UnknownNameError(place, f"has no scores for {task}", f"{hint}There are: {', '.join(known)}.")
