"""The answers of a run, instance by instance in the order of the dataset: the source of every export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task, task_named


@dataclass(frozen=True, slots=True)
class Answer:
    """One instance of a run on one task.

    Attributes
    ----------
    instance_id : str
    evidence : EvidenceSet
    retrieval : Retrieval or None
        ``None`` where there is no answer.
    reason : str
        Why there is none; empty where there is one.
    instance : Instance or None
        The whole instance, where the answers were asked for with their papers.
    """

    instance_id: str
    evidence: EvidenceSet
    retrieval: Retrieval | None
    reason: str = ""
    instance: Instance | None = None


@dataclass(frozen=True, slots=True)
class RunAnswers:
    """The answers of a run on a task; iterate over it as often as you like, memory stays small.

    Every instance of the dataset comes up, answered or not.

    Attributes
    ----------
    store : Store
    run : RunInfo
    task : Task
    with_papers : bool
        Whether the answers bring their `Answer.instance`.
    """

    store: Store
    run: RunInfo
    task: Task
    with_papers: bool = False

    def __iter__(self) -> Iterator[Answer]:
        runs = RunStore(self.store)
        failures = runs.failures(self.run.id, self.task.name)
        done = runs.done(self.run.id, self.task.name)
        for instance_id, evidence, instance in self._instances():
            retrieval = None
            if instance_id in done:
                retrieval = runs.retrieval(self.run.id, self.task.name, instance_id)
            reason = "" if retrieval is not None else failures.get(instance_id, "it was not asked")
            yield Answer(instance_id, evidence, retrieval, reason, instance)

    def _instances(self) -> Iterator[tuple[str, EvidenceSet, Instance | None]]:
        if self.with_papers:
            for instance in self.store.iter(self.run.dataset):
                yield instance.id, instance.evidence, instance
            return
        for instance_id, evidence in self.store.evidence_sets(self.run.dataset):
            yield instance_id, evidence, None


def tasks_of(run: RunInfo, names: Sequence[str] | None, several: bool = True) -> tuple[Task, ...]:
    """The tasks asked for, or all that the run has answers for.

    Raises
    ------
    SettingError
        For an unknown task, or where there are several and only one may be.
    UnknownNameError
        If the run has no answers, or none for one of the tasks.
    """
    there = ", ".join(run.tasks) or "no task yet"
    remedy = f"It has answers for {there}; `evidencebench run` goes on where it stopped."
    if not any(run.tasks.values()):
        raise UnknownNameError(f"run {run.id}", "has no answers yet", remedy)
    tasks = tuple(dict.fromkeys(task_named(name) for name in names or run.tasks))
    for task in tasks:
        if not run.tasks.get(task.name):
            raise UnknownNameError(f"run {run.id}", f"has no answers for {task.name}", remedy)
    if len(tasks) > 1 and not several:
        listed = ", ".join(task.name for task in tasks)
        raise SettingError(
            f"run {run.id}", f"has answers for {len(tasks)} tasks: {listed}", "Say which one with --task."
        )
    return tasks
