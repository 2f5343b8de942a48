"""The queries that a run still has to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evidencebench_core.runs.store import RunStore
from evidencebench_core.runs.variant import Variant
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True)
class Pending:
    """The work that is missing in a run."""

    total: int
    missing: Mapping[str, Sequence[Task]]
    left_out: int
    any_stored: bool


def pending_of(
    runs: RunStore,
    run_id: str,
    dataset: str,
    tasks: Sequence[Task],
    limit: int | None = None,
    variant: Variant | None = None,
    fresh: bool = False,
) -> Pending:
    """The queries of a run; it need not be in the store yet."""
    all_ids = runs.store.ids(dataset, limit)
    ids = [one for one in all_ids if variant is None or variant.has(one)]
    resultless = _resultless(runs, dataset, None if limit is None else ids, tasks)
    done = {task: runs.done(run_id, task.name) for task in tasks}
    failures = {task: runs.failures(run_id, task.name).keys() for task in tasks}
    first: dict[str, list[Task]] = {}
    again: dict[str, list[Task]] = {}
    total = 0
    for instance_id in ids:
        asked = [task for task in tasks if task.focus == "all" or instance_id not in resultless]
        missing = [task for task in asked if fresh or instance_id not in done[task]]
        total += bool(asked)
        if missing:
            retry = any(instance_id in failures[task] for task in missing)
            (again if retry else first)[instance_id] = missing
    return Pending(total, first | again, len(all_ids) - len(ids), any(done.values()))


def _resultless(runs: RunStore, dataset: str, ids: Sequence[str] | None, tasks: Sequence[Task]) -> set[str]:
    """Instances without result aspects: the result tasks skip them (spec rule 4)."""
    if all(task.focus == "all" for task in tasks):
        return set()
    gold = runs.store.evidence_sets(dataset, ids)
    return {instance_id for instance_id, evidence in gold if not evidence.focused("results")}
