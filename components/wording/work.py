"""Which systems are compared on the page Wording, what is stored of them, and the job that asks the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job, JobContext, JobStopped
from components.models.caps import session_budget, spent_text
from components.models.server import session_connection
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.variant_runs import Setup, n_unanswered, run_variants
from evidencebench_core.analyses.wording import WORDING_REPORTS
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.retrievers.llm import Session, session_for
from evidencebench_core.runs import RunEstimate, RunStore, estimated_run
from evidencebench_core.runs.prepared import prepared
from evidencebench_core.tasks import Task

__all__ = [
    "JOB_KIND",
    "System",
    "asking_estimate",
    "start_asking",
    "systems_of",
    "unanswered",
    "wording_report",
]

JOB_KIND = "wording"


@dataclass(frozen=True, slots=True)
class System:
    """A retriever, as it was chosen, asked about a dataset and a task."""

    choice: Choice
    asked: Setup

    @property
    def label(self) -> str:
        return self.choice.label

    @property
    def retriever(self) -> str:
        return self.choice.name

    @property
    def asks_server(self) -> bool:
        """Whether its questions may cost something."""
        return retriever_entry(self.retriever).asks_server


def systems_of(dataset: DatasetInfo, task: Task, choices: Sequence[Choice]) -> tuple[System, ...]:
    """One system a choice of the picker.

    Raises
    ------
    SettingError, UnknownNameError
        If a retriever that asks a server cannot be asked with these settings.
    """
    return tuple(
        System(choice, Setup(dataset.name, choice.name, _settings(dataset, choice), task))
        for choice in choices
    )


def _settings(dataset: DatasetInfo, choice: Choice) -> Mapping[str, object]:
    """Those that make the id of the run: what asks a server adds its prompts and examples to them."""
    if not retriever_entry(choice.name).asks_server:
        return dict(choice.settings)
    store = resources.store()
    session = session_for(store, connection=session_connection())
    return prepared(store, dataset.name, choice.name, choice.settings, session=session).spec.settings


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


def asking_estimate(
    dataset: DatasetInfo, system: System, question: str, session: Session, limit: int | None = None
) -> RunEstimate:
    """What a system that asks a server still has to be asked; ``n_instances`` counts the wordings.

    Raises
    ------
    SettingError, RetrieverError
        If it cannot be asked.
    """
    asked = system.asked
    estimates = [
        estimated_run(
            resources.store(),
            dataset.name,
            asked.retriever,
            asked.settings,
            (asked.task,),
            limit,
            variant=variant,
            session=session,
        )
        for variant in (None, *resources.wording_variants(dataset, question))
    ]
    return RunEstimate(
        estimates[0].model,
        sum(one.n_instances for one in estimates),
        sum(one.n_looked_at for one in estimates),
        sum(one.calls for one in estimates),
        sum(one.cached for one in estimates),
        sum(one.prompt_tokens for one in estimates),
        sum(one.completion_tokens for one in estimates),
        estimates[0].price,
    )


def start_asking(
    dataset: DatasetInfo, systems: Sequence[System], question: str, limit: int | None = None
) -> Job:
    """Ask in the background whatever is missing; it resumes where it was cancelled.

    Those that ask a server ask that of the session, all within the session's caps.
    """
    store = resources.store()
    variants = (None, *resources.wording_variants(dataset, question))
    session = budget = None
    if any(system.asks_server for system in systems):
        budget = session_budget()
        session = session_for(store, connection=session_connection(), budget=budget)

    def taken() -> str:
        return "" if budget is None else f" Asked: {spent_text(budget.spent)}."

    def work(job: JobContext) -> str:
        try:
            for place, system in enumerate(systems, start=1):
                which = f"{system.label}, {place} of {len(systems)}: " if len(systems) > 1 else ""
                own = session if system.asks_server else None
                for step in run_variants(
                    store, system.asked, variants, job.cancelled, session=own, limit=limit
                ):
                    job.report(step.done, step.total, f"{which}{step.note}.{taken()}")
                if job.cancelled():
                    return f"What was answered is kept. Start it again to go on where it stopped.{taken()}"
        except BudgetReachedError as reached:
            raise JobStopped(f"What was answered is kept.{taken()} {reached}") from reached
        some = "" if limit is None else f" of the first {limit:,} instances"
        left = sum(n_unanswered(store, system.asked, variants, limit) for system in systems)
        if left:
            return f"Every wording{some} was asked; {left:,} got no answer. Ask again to try only those.{taken()}"
        return f"Every wording{some} is answered.{taken()}"

    task = systems[0].asked.task
    names = ", ".join(system.label for system in systems)
    subject = f"{dataset.name}/{question}/{task.name}/{names}"
    return resources.jobs().start(
        JOB_KIND, subject, f"{names} on {dataset.name}, {task.title}: {question}", work
    )
