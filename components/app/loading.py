"""Datasets fetched and read within a job."""

from __future__ import annotations

from components.app.jobs import Job
from evidencebench_core.data import DatasetInfo, Store, download, ingest


def download_datasets(job: Job, store: Store, name: str, split: str) -> list[DatasetInfo]:
    """Fetch the files of a released dataset and read them into the store; the job can be cancelled meanwhile."""

    def report_fetched(done: int, total: int | None) -> None:
        job.report(done, total or 0, f"{done / 1e6:,.1f} MB fetched", stop=True)

    def report_read(done: int, total: int, n_instances: int) -> None:
        job.report(done, total, f"{n_instances:,} instances read", stop=True)

    paths = download(name, split, progress=report_fetched)
    return [ingest(store, path, None, report_read).dataset for path in paths]
