"""The app as Streamlit's AppTest runs it, on a store with the sample papers."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.runs import RunStore, execute, plan

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data" / "sample_data.json"

OpenPage = Callable[..., AppTest]


@pytest.fixture
def empty_store() -> Store:
    """The store that the app of this test opens, without any dataset."""
    return open_store()


@pytest.fixture
def sample_store(empty_store: Store) -> Store:
    """The same with the six sample papers."""
    ingest(empty_store, SAMPLE)
    return empty_store


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    """Every test has its own store, so nothing may stay cached."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def open_page() -> OpenPage:
    """Open a page of the app with query parameters and without an uncaught exception."""

    def opened(page: str = "home", **params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in params.items():
            app.query_params[name] = value
        app.run()
        if page != "home":
            app.switch_page(f"pages/{page}.py")
            for name, value in params.items():
                app.query_params[name] = value
            app.run()
        assert not app.exception
        return app

    return opened


@pytest.fixture
def open_alone() -> OpenPage:
    """Open a page as `app.py` would run it, without the others."""

    def opened(page: str, **params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
        app.session_state["entered"] = True
        for name, value in params.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return opened


def finished_runs(
    store: Store, *retrievers: str, dataset: str = "sample_data", **options: Any
) -> dict[str, str]:
    """Ids of runs over a dataset, by retriever."""
    for retriever in retrievers:
        for _ in execute(plan(store, dataset, retriever, **options)):
            pass
    return {run.retriever: run.id for run in RunStore(store).runs(dataset)}


def texts(app: AppTest) -> str:
    """Everything a page says in its own words."""
    kinds = ("title", "markdown", "caption", "info", "warning", "error", "badge")
    return "\n".join(
        str(element.value) for kind in kinds for element in app.get(kind) if hasattr(element, "value")
    )


def press(app: AppTest, label: str) -> None:
    """Click the first button whose label begins so."""
    next(button for button in app.button if button.label.startswith(label)).click().run()


def address(app: AppTest) -> dict[str, str]:
    """The query parameters; AppTest keeps those it was given as lists, those the app wrote as text."""
    return {name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}


@pytest.fixture
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server, key, prompts or prices of whoever runs the test."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVIDENCEBENCH_PROMPTS", str(tmp_path / "prompts"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that anything logs."""
    stream_, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream_), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream_
    root.removeHandler(handler)
    root.setLevel(level)
