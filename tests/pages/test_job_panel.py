"""Jobs on a page: what ends while the page is drawn is on it, whatever the page has read before."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from components.app import resources
from evidencebench_core.data import Store, ingest
from tests.pages.app import SAMPLE, OpenPage, finished_runs, jobs_ended


def load_sample(store: Store) -> None:
    ingest(store, SAMPLE)


def run_bm25(store: Store) -> None:
    finished_runs(store, "bm25")


CASES = {  # page: what is there before, kind of the job, what it does, what the page reads, what then stands on it
    "home": (None, "data", load_sample, (Store, "datasets"), "Click a dataset to see"),
    "runs": (load_sample, "run", run_bm25, (resources, "runs"), "Click runs to compare them"),
}


@pytest.mark.parametrize("page", CASES)
def test_what_ends_behind_the_reading_is_shown(
    page: str, open_page: OpenPage, empty_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job ends between the page's reading of its store and the panel, and the page is drawn once more."""
    prepare, kind, work, read, shows = CASES[page]
    if prepare:
        prepare(empty_store)
    go_on = threading.Event()

    def wait_and_work(_: object) -> str:
        go_on.wait(60)
        work(empty_store)
        return "made."

    resources.jobs().start(kind, "subject", "A job", wait_and_work)
    app = open_page(page)
    assert shows not in app.words
    reading, n_read = getattr(*read), 0

    def read_and_let_end(*args: Any) -> Any:
        nonlocal n_read
        found = reading(*args)
        if not threading.current_thread().name.startswith("job-"):
            n_read += 1
            go_on.set()
            jobs_ended()
        return found

    monkeypatch.setattr(*read, read_and_let_end)
    assert shows in app.run().words
    read_twice, n_read = n_read, 0
    assert shows in app.run().words
    assert read_twice > n_read  # of a job that has ended before, a page is drawn once
