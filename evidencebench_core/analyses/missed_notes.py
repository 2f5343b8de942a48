"""What analysts noted on a run's misses, as a `Report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidencebench_core.analyses.report import Report
from evidencebench_core.runs import RunStore
from evidencebench_core.runs.notes import NOTE_COLUMNS, NoteStore, note_rows
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

__all__ = ["notes_report"]


def notes_report(store: Store, run_id: str, task: str | Task) -> Report:
    """Of each author the newest note on each missed aspect.

    Returns
    -------
    Report
        *notes*: ``instance_id``, ``aspect_id`` (the key), ``run_id``, ``task``, ``author``, ``cause`` (a name
        of `causes.CAUSES`, ``None`` where left open), ``tags`` (joined by "; "), ``text``, ``created_at``.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task.
    """
    import pandas as pd

    chosen = task if isinstance(task, Task) else task_named(task)
    run = RunStore(store).run(run_id)
    notes = NoteStore(store)
    shown = notes.notes(run.id, chosen.name)
    replaced = len(notes.notes(run.id, chosen.name, history=True)) - len(shown)
    return Report(
        f"Notes on missed aspects: {run.label} ({run.id}), {chosen.title} on {run.dataset}",
        {"notes": pd.DataFrame(note_rows(shown), columns=list(NOTE_COLUMNS))},
        (f"{len(shown):,} notes; {replaced:,} older ones that their authors replaced are left out.",),
    )
