"""Pages on a store of their own, with the sample papers where a test asks for them."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from evidencebench_core.data import Store, ingest, open_store
from tests.pages.app import ROOT, SAMPLE, App, OpenPage


@pytest.fixture
def empty_store() -> Store:
    """The store that the app of this test opens, without any dataset."""
    return open_store()


@pytest.fixture
def sample_store(empty_store: Store) -> Store:
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
    """Open a page of the app, given what the session remembers and the parameters."""

    def opened(page: str = "home", kept: Mapping[str, str] | None = None, **params: str) -> App:
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        return App(test, kept, "" if page == "home" else page, **params)

    return opened


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
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)
