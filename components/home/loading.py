"""Files and downloads read into the store, as jobs."""

from __future__ import annotations

import shutil
from pathlib import Path

from components.app import resources
from components.app.jobs import Job
from evidencebench_core.data import download, ingest
from evidencebench_core.words import quantity


def start_ingest(path: Path, name: str | None = None, title: str | None = None, forget: bool = False) -> Job:
    """Read a dataset file into the store; ``forget`` removes it and its folder afterwards (an upload's copy)."""
    store = resources.store()

    def work(job: Job) -> str:
        def progress(done: int, total: int, n_instances: int) -> None:
            job.report(done, total, f"{n_instances:,} instances", stop=True)

        try:
            result = ingest(store, path, name, progress)
        finally:
            if forget:
                shutil.rmtree(path.parent, ignore_errors=True)
        info = result.dataset
        state = "loaded as" if result.added else "was already loaded as"
        return f"{quantity(info.n_instances, 'instance')}, {state} {info.name}."

    return resources.jobs().start("data", str(path), title or f"Read {path.name}", work)


def start_download(name: str, split: str) -> Job:
    """Fetch a dataset file and read it into the store."""
    store = resources.store()

    def work(job: Job) -> str:
        def fetching(done: int, total: int | None) -> None:
            job.report(done, total or 0, f"{done / 1e6:,.1f} MB fetched", stop=True)

        def reading(done: int, total: int, n_instances: int) -> None:
            job.report(done, total, f"{n_instances:,} instances read", stop=True)

        loaded = [
            ingest(store, path, None, reading).dataset for path in download(name, split, progress=fetching)
        ]
        return ", ".join(
            f"{quantity(info.n_instances, 'instance')}, loaded as {info.name}" for info in loaded
        )

    return resources.jobs().start("data", f"{name}/{split}", f"Download {name}, {split}", work)
