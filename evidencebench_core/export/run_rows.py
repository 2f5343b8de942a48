"""A run instance by instance, as every way out reads it, and what could not be written."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.runs.store import installed_versions
from evidencebench_core.tasks import Task, task_named, validated_selection

_PACKAGES: Final = (
    "evidencebench-explorer", "numpy", "openai", "rank-bm25", "scikit-learn", "scipy", "sentence-transformers",
    "torch", "transformers",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One instance of a run on one task; without a ``retrieval``, ``reason`` says why."""

    instance_id: str
    evidence: EvidenceSet
    retrieval: Retrieval | None
    reason: str = ""
    instance: Instance | None = None  # whole, where the rows were asked for with their papers

    @property
    def picks(self) -> tuple[int, ...]:
        """The selection, every sentence once; none without an answer."""
        selection = self.retrieval.selection if self.retrieval is not None else ()
        return validated_selection(selection, self.evidence.n_sentences, self.instance_id)


def rows(store: Store, run: RunInfo, task: Task, with_papers: bool = False) -> Iterator[Row]:
    """Every instance that the run is over, in the file's order, answered or not; ``with_papers`` it whole."""
    runs = RunStore(store)
    question = run.question(task) or ""
    failures, done = runs.failures(run.id, question), runs.done(run.id, question)
    ids = runs.ids(run)
    papers = store.get_many(run.dataset, ids) if with_papers else repeat(None)
    for (instance_id, evidence), instance in zip(store.evidence_sets(run.dataset, ids), papers, strict=False):
        retrieval = runs.retrieval(run, task, instance_id) if instance_id in done else None
        reason = "" if retrieval is not None else failures.get(instance_id, "it was not asked")
        if retrieval is None and not evidence.focused(task.focus):
            reason = task.skip_reason
        yield Row(instance_id, evidence, retrieval, reason, instance)


def tasks_of(run: RunInfo, names: Sequence[str | Task] | None, several: bool = True) -> tuple[Task, ...]:
    """The tasks asked for, or all that the run has answers for.

    `SettingError` for an unknown task, or where there are several and only one may be; `UnknownNameError` if
    the run has no answers for one of them.
    """
    tasks = tuple(dict.fromkeys(task_named(name) for name in names or run.tasks))
    missing = [task.name for task in tasks if not run.n_answers(task)]
    if missing or not tasks:
        remedy = f"It has answers for {', '.join(run.tasks) or 'no task yet'}."
        raise UnknownNameError(f"run {run.id}", f"has no answers for {missing or 'any task'}", remedy)
    if len(tasks) > 1 and not several:
        listed = ", ".join(task.name for task in tasks)
        problem = f"has answers for {len(tasks)} tasks: {listed}"
        raise SettingError(f"run {run.id}", problem, "Say which one with --task.")
    return tasks


def versions() -> dict[str, str]:
    """Python and the installed packages that can change a retriever's answer, by name."""
    return {"python": platform.python_version(), **installed_versions(_PACKAGES)}
