"""Deleting and renaming a run."""

from __future__ import annotations

import sqlite3
from typing import Final

from evidencebench_core.data.removal import counted
from evidencebench_core.runs.store import RunInfo, RunStore
from evidencebench_core.words import one_line

# A run and, of one over the papers as they stand, those with the same settings over perturbed ones.
_IDS: Final = """SELECT other.id FROM runs AS own JOIN runs AS other ON other.id = own.id
    OR own.variant = '' AND other.dataset_id = own.dataset_id AND other.retriever = own.retriever
        AND other.settings = own.settings AND other.variant <> '' WHERE own.id = :id"""
_COUNTS: Final = {
    "perturbed run": f"runs WHERE id <> :id AND id IN ({_IDS})",
    "note": f"notes WHERE run_id IN ({_IDS})",
}


def run_dependents(runs: RunStore, run: RunInfo) -> dict[str, int]:
    """How many answers, notes, and runs of the same settings over perturbed papers go with a run; without zeros."""
    with runs.store.read() as db:
        return _dependents(db, run)


def delete_run(runs: RunStore, run: RunInfo) -> dict[str, int]:
    """Delete a run with all that depends on it, in one transaction; returns `run_dependents`."""
    with runs.store.write() as db:
        gone = _dependents(db, run)
        ids = [(run_id,) for (run_id,) in db.execute(_IDS, {"id": run.id}).fetchall()]
        db.executemany("DELETE FROM trained_models WHERE digest = ?", ids)
        db.executemany("DELETE FROM runs WHERE id = ?", ids)
    return gone


def rename_run(runs: RunStore, run: RunInfo, name: str) -> RunInfo:
    """Give a run a name of its own; a blank one takes it away, and it is called after its settings again."""
    with runs.store.write() as db:
        db.execute("UPDATE runs SET name = ? WHERE id = ?", (one_line(name).strip(), run.id))
    return runs.run(run.id)


def _dependents(db: sqlite3.Connection, run: RunInfo) -> dict[str, int]:
    answers = sum(run.tasks.values())
    return ({"answer": answers} if answers else {}) | counted(db, _COUNTS, {"id": run.id})
