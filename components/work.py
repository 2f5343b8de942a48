"""The work of jobs, without streamlit, so that it can run in another process; each returns its closing note."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from components.jobs import Job
from evidencebench_core.analyses.sample import SAMPLE_RUNS, sample
from evidencebench_core.data import DatasetInfo, download, ingest, open_store
from evidencebench_core.llm import Budget, Spending
from evidencebench_core.runs import Plan, execute
from evidencebench_core.words import dollars, quantity


def run_retrievers(job: Job, path: Path, plans: Sequence[Callable[..., Plan]]) -> str:
    """Runs of local retrievers, as calls of `runs.plan` without the store."""
    store = open_store(path)
    return carry_out(job, [made(store) for made in plans], "instance")


def carry_out(job: Job, plans: Sequence[Plan], noun: str, budget: Budget | None = None) -> str:
    """Execute plans until the job is cancelled or a cap is reached; stored answers are not asked for again."""
    total = sum(plan.total for plan in plans)
    before = failed_before = failed = 0
    note = "Nothing was asked."
    for planned in plans:
        for step in execute(planned, None, job.cancelled):
            done, failed = before + step.done, failed_before + step.failed
            note = f"{done:,} of {total:,} {noun}s answered{f', {failed:,} failed' if failed else ''}."
            if budget is not None:
                note += f" Asked: {spent_text(budget.spent)}."
            job.report(done, total, note)
        if job.cancelled():
            return f"{note} Start it again to go on where it stopped."
        before, failed_before = before + planned.total, failed
    return note


def spent_text(spent: Spending) -> str:
    """``"12 calls, 34,000 tokens, $0.12"``."""
    parts = [quantity(spent.calls, "call"), f"{spent.tokens:,} tokens"]
    if spent.calls:
        parts.append(dollars(spent.money))
    if spent.cached:
        parts.append(f"{spent.cached:,} from the store")
    return ", ".join(parts)


def read_sample(job: Job, path: Path) -> str:
    """Load the sample papers, with runs over them."""
    return f"{_loaded_text(sample(open_store(path)))}, with runs of {', '.join(SAMPLE_RUNS)}."


def read_file(job: Job, path: Path, file: Path, name: str) -> str:
    """Load an uploaded dataset, under a name or the file's; then delete the file and its folder."""
    try:
        result = ingest(open_store(path), file, name or None, _bytes_read(job))
    finally:
        shutil.rmtree(file.parent, ignore_errors=True)
    return f"{_loaded_text(result.dataset)}{'' if result.added else ' before'}."


def fetch(job: Job, path: Path, name: str, split: str) -> str:
    """Download and load a released dataset."""

    def report(done: int, total: int | None) -> None:
        job.report(round(50 * done / total) if total else 0, 100, f"{done / 1e6:,.1f} MB fetched", stop=True)

    files = download(name, split, progress=report)
    infos = [ingest(open_store(path), file, None, _bytes_read(job, 50)).dataset for file in files]
    return f"{', '.join(map(_loaded_text, infos))}."


def _bytes_read(job: Job, begins: int = 0) -> Callable[[int, int, int], None]:
    """A function that reports how much of a file has been read, in percent of the work; it is read twice."""

    def report(done: int, total: int, n: int) -> None:
        share = (done + total * (n > 0)) / max(2 * total, 1)
        job.report(round(begins + (100 - begins) * share), 100, f"{n:,} instances read", stop=True)

    return report


def _loaded_text(info: DatasetInfo) -> str:
    return f"{quantity(info.n_instances, 'instance')}, loaded as {info.name}"
