"""A run as a file, in every format in which it leaves the house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TextIO

from evidencebench_core.data.store import Store
from evidencebench_core.export.run_rows import rows, tasks_of
from evidencebench_core.export.tables import write_csv, write_json, write_predictions
from evidencebench_core.export.trec import write_qrels, write_run
from evidencebench_core.runs import RunInfo, score_run

RunFormat = Literal["trec", "qrels", "csv", "json", "predictions"]


def write_run_file(
    store: Store, run: RunInfo, form: RunFormat, names: Sequence[str] | None, stream: TextIO
) -> list[str]:
    """Write a run for the named tasks, or all that it has answers for; returns what is odd about it, a line each."""
    tasks = tasks_of(run, names, several=form in ("csv", "json"))
    first, scores = tasks[0], {task: score_run(store, run, task) for task in tasks}
    by_task = {task: rows(store, run, task, with_papers=form == "csv") for task in tasks}
    lines = [note for score in scores.values() for note in score.notes]
    if form == "json":
        scored = ((task, scores[task], of_task) for task, of_task in by_task.items())
        write_json(run, store.dataset(run.dataset), scored, stream)
    elif form == "csv":
        write_csv(by_task, stream, run.id)
    elif form == "qrels":
        write_qrels(store.evidence_sets(run.dataset), first, stream)
    elif form == "predictions":
        write_predictions(by_task[first], stream)
    else:
        measure = write_run(by_task[first], first, stream, f"{run.retriever}-{run.id}")
        lines.insert(0, f"{first.name}: {measure}")
    return lines
