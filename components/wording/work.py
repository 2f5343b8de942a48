"""Which systems are compared on the page Wording, what is stored of them, and the job that asks the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components import resources
from components.jobs import Job, JobContext
from components.retriever_picker import Choice
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.sensitivity import WORDING_REPORTS
from evidencebench_core.analyses.variant_runs import Asked, n_unanswered, run_variants
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import Task

__all__ = ["JOB_KIND", "System", "start_asking", "systems_of", "unanswered", "wording_report"]

JOB_KIND = "wording"


@dataclass(frozen=True, slots=True)
class System:
    """A retriever asked about a dataset and a task, with its short label."""

    label: str
    retriever: str
    asked: Asked


def systems_of(dataset: DatasetInfo, task: Task, choices: Sequence[Choice]) -> tuple[System, ...]:
    """One system a choice of the picker."""
    return tuple(
        System(choice.label, choice.name, Asked(dataset.name, choice.name, dict(choice.settings), task))
        for choice in choices
    )


def unanswered(dataset: DatasetInfo, systems: Sequence[System], question: str) -> int:
    """Queries that nobody has asked yet."""
    variants = (None, *resources.wording_variants(dataset, question))
    return sum(n_unanswered(resources.store(), system.asked, variants) for system in systems)


def wording_report(dataset: DatasetInfo, system: System, question: str) -> Report:
    """The report on what is stored, computed anew whenever there are more answers."""
    variants = (None, *resources.wording_variants(dataset, question))
    wanted = {system.asked.run_id(resources.store(), variant) for variant in variants}
    answered = tuple(
        (run.id, run.tasks.get(system.asked.task.name, 0))
        for run in RunStore(resources.store()).runs(dataset.name, variants=True)
        if run.id in wanted
    )
    key = (dataset.sha256, system.label, system.asked.task.name, tuple(sorted(wanted)), answered)
    return resources.report(
        f"wording.{question}", key, lambda: WORDING_REPORTS[question](resources.store(), system.asked)
    )


def start_asking(dataset: DatasetInfo, systems: Sequence[System], question: str) -> Job:
    """Ask in the background whatever is missing; it resumes where it was cancelled."""
    store = resources.store()
    variants = (None, *resources.wording_variants(dataset, question))

    def work(job: JobContext) -> str:
        for place, system in enumerate(systems, start=1):
            which = f"{system.label}, {place} of {len(systems)}: " if len(systems) > 1 else ""
            for step in run_variants(store, system.asked, variants, job.cancelled):
                job.report(step.done, step.total, f"{which}{step.note}")
            if job.cancelled():
                return "What was answered is kept. Start it again to go on where it stopped."
        return "Every wording is answered."

    task = systems[0].asked.task
    names = ", ".join(system.label for system in systems)
    subject = f"{dataset.name}/{question}/{task.name}/{names}"
    return resources.jobs().start(
        JOB_KIND, subject, f"{names} on {dataset.name}, {task.title}: {question}", work
    )
