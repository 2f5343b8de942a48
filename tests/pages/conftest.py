"""Pages on a store of their own, with the sample papers and runs over them where a test asks for them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.jobs import InChild
from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.runs import RunStore
from tests.pages.app import ROOT, SAMPLE, App, OpenPage, finished_runs


@pytest.fixture
def empty_store() -> Store:
    """The store that the app of this test opens, without any dataset."""
    return open_store()


@pytest.fixture
def sample_store(empty_store: Store) -> Store:
    ingest(empty_store, SAMPLE)
    return empty_store


@pytest.fixture(scope="session")
def _store_with_runs(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that is copied: runs are made once for all tests that only read them."""
    store = open_store(tmp_path_factory.mktemp("runs") / "store.sqlite")
    ingest(store, SAMPLE)
    finished_runs(store, "bm25", "abstract-tail", "lead")
    return store


@pytest.fixture
def runs(_store_with_runs: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Ids of runs over the sample papers for all tasks, by retriever: bm25, abstract-tail, lead."""
    _store_with_runs.backup(tmp_path / "with-runs.sqlite")
    monkeypatch.setenv("EVIDENCEBENCH_STORE", str(tmp_path / "with-runs.sqlite"))
    return {run.retriever: run.id for run in RunStore(open_store()).runs("sample_data")}


@pytest.fixture(autouse=True)
def _app_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing cached of another test, nobody's server or key, and jobs in threads, where they can be patched."""
    st.cache_resource.clear()
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(InChild, "__call__", lambda work, job: work.function(job, *work.args))


@pytest.fixture
def open_page() -> OpenPage:
    """Open a page of the app, given what the session remembers and the parameters."""

    def opened(page: str = "home", kept: Mapping[str, str] | None = None, **params: str) -> App:
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        return App(test, kept, "" if page == "home" else page, **params)

    return opened
