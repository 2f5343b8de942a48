"""Runs, ingests and downloads as jobs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.app import resources
from components.app.jobs import Job, JobContext, JobStopped
from components.models.caps import session_budget, spent_text
from components.models.server import session_connection
from evidencebench_core.data import download, ingest
from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.retrievers import full_settings, retriever_entry
from evidencebench_core.runs import execute
from evidencebench_core.runs.prepared import prepared
from evidencebench_core.tasks import Task

__all__ = ["start_download", "start_ingest", "start_run"]


def start_run(
    dataset: str,
    retriever: str,
    settings: Mapping[str, object],
    tasks: Sequence[Task],
    limit: int | None = None,
) -> Job:
    """Run a retriever over a dataset in the background; what is already answered is not asked again.

    One that asks a server asks that of the session, within the session's caps.
    """
    store = resources.store()
    session = budget = None
    full: Mapping[str, object] = full_settings(retriever, settings)  # of a run that is resumed the same
    if retriever_entry(retriever).asks_server:
        from evidencebench_core.retrievers.llm import session_for

        budget = session_budget()
        session = session_for(store, connection=session_connection(), budget=budget)
        full = prepared(store, dataset, retriever, settings, session=session).spec.settings

    def taken() -> str:
        return "" if budget is None else f" Asked: {spent_text(budget.spent)}."

    def work(job: JobContext) -> str:
        answered = failed = 0
        whole = " in every task" if len(tasks) > 1 else ""
        steps = execute(
            store, dataset, retriever, settings, tasks, limit=limit, cancelled=job.cancelled, session=session
        )
        try:
            for step in steps:
                answered, failed = step.done, step.failed
                noted = f", {failed:,} failed" if failed else ""
                job.report(
                    step.done, step.total, f"{answered:,} of {step.total:,} instances{noted}.{taken()}"
                )
        except BudgetReachedError as reached:
            raise JobStopped(f"{answered:,} instances answered{whole}.{taken()} {reached}") from reached
        noted = f", {failed:,} failed" if failed else ""
        resume = " Start it again to go on where it stopped." if job.cancelled() else ""
        return f"{answered:,} instances answered{whole}{noted}.{taken()}{resume}"

    names = ", ".join(task.title for task in tasks)
    subject = f"{dataset}/{retriever}/{sorted(full.items())}"
    return resources.jobs().start("run", subject, f"{retriever} on {dataset}: {names}", work)


def start_ingest(path: Path, name: str | None = None, title: str | None = None, forget: bool = False) -> Job:
    """Read a dataset file into the store; ``forget`` removes it and its folder afterwards (an upload's copy)."""
    store = resources.store()

    def work(job: JobContext) -> str:
        def progress(done: int, total: int, n_instances: int) -> None:
            job.report(done, total, f"{n_instances:,} instances", stop=True)

        try:
            result = ingest(store, path, name, progress)
        finally:
            if forget:
                shutil.rmtree(path.parent, ignore_errors=True)
        info = result.dataset
        state = "loaded as" if result.added else "was already loaded as"
        return f"{_instances(info.n_instances)}, {state} {info.name}."

    return resources.jobs().start("data", str(path), title or f"Read {path.name}", work)


def start_download(name: str, split: str) -> Job:
    """Fetch a dataset file and read it into the store."""
    store = resources.store()

    def work(job: JobContext) -> str:
        def fetching(done: int, total: int | None) -> None:
            job.report(done, total or 0, f"{done / 1e6:,.1f} MB fetched", stop=True)

        def reading(done: int, total: int, n_instances: int) -> None:
            job.report(done, total, f"{n_instances:,} instances read", stop=True)

        loaded = [
            ingest(store, path, None, reading).dataset for path in download(name, split, progress=fetching)
        ]
        return ", ".join(f"{_instances(info.n_instances)}, loaded as {info.name}" for info in loaded)

    return resources.jobs().start("data", f"{name}/{split}", f"Download {name}, {split}", work)


def _instances(number: int) -> str:
    return f"{number:,} instance{'' if number == 1 else 's'}"
