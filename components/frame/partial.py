"""Runs that lack answers: what is known of them is no result yet, and is never shown as one."""

from __future__ import annotations

from collections.abc import Sequence

from components.app import resources
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task, task_named


def part_text(run: RunInfo, task: str | Task) -> str:
    """``12 of 96``: how many instances of a task a run has answered; empty where it has all."""
    chosen = task_named(task)
    dataset, n = resources.store().dataset(run.dataset), run.n_answers(chosen)
    if n >= (dataset.n_result_instances if chosen.focus == "results" else dataset.n_instances):
        return ""
    scored = resources.bounds(dataset, chosen.name).per_instance
    asked = (
        [name for name in run.sample.ids(resources.store(), dataset) if name in scored]
        if run.sample
        else scored
    )
    if n >= len(asked) and not resources.run_score(run, chosen.name).n_missing:
        return ""
    return f"{n:,} of {len(asked):,}"


def parts_text(runs: Sequence[RunInfo], task: Task) -> str:
    """The same of all that lack answers: ``bm25 12 of 96, dense 3 of 96``; empty where none does."""
    parts = {run.label: part_text(run, task) for run in runs}
    return ", ".join(f"{label} {part}" for label, part in parts.items() if part)
