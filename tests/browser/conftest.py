"""What browser tests share: Chromium, and apps to look at.

Without a Chromium they are skipped and say so; where ``CI`` is set they fail.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from evidencebench_core.data import Store, ingest, open_store
from tests.browser.serving import CHROMIUM_FLAGS, SAMPLE, calling_nobody, chromium, served, served_app
from tests.factories import written
from tests.llm.server import reply, scripted

HERE = Path(__file__).parent
DESKTOP = {"width": 1440, "height": 900}

# The first page of a server that has just come up takes seconds on a machine that others use, too.
expect.set_options(timeout=20_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser; all but the flows are of the slow tier."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            if item.get_closest_marker("flow") is None:
                item.add_marker("slow")


@pytest.fixture(scope="package")
def chromium_path() -> str:
    """Path of the Chromium to drive."""
    path = chromium()
    if path is None:
        message = "no Chromium: install one (apt install chromium) or name it: CHROMIUM=/path/to/chromium"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    return path


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """The Chromium of this folder; its end is that of playwright's event loop, beside which no other can run."""
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium_path, args=list(CHROMIUM_FLAGS))
        yield chrome
        chrome.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages in a session of their own; options as of playwright's ``new_context``.

    A test fails if a script of its pages did.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def opened(**options: Any) -> Page:
        contexts.append(browser.new_context(**{"viewport": DESKTOP, "color_scheme": "light"} | options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1440 by 900, light."""
    return new_page()


@pytest.fixture(scope="package")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of the app, with the sample papers; tests add to it what they need."""
    store = open_store(tmp_path_factory.mktemp("app") / "store.sqlite")
    ingest(store, SAMPLE)
    return store


@pytest.fixture
def own_dataset(store: Store, tmp_path: Path) -> str:
    """The name of the same papers as a dataset of this test alone."""
    name = f"copy-{len(store.datasets())}"
    papers = {f"{name}-{instance_id}": raw for instance_id, raw in json.loads(SAMPLE.read_text()).items()}
    ingest(store, written(papers, tmp_path / "copy.json"), name)
    return name


@pytest.fixture(scope="package")
def app_url(chromium_path: str, store: Store) -> Iterator[str]:
    """The app on that store, which connects to this machine alone and asks a model that rewords all alike."""
    answer = reply("HYPOTHESIS: Other words than these are hard to come by.")
    folder = store.path.parent
    with (
        scripted(answer, listed=["tiny"]) as model,
        calling_nobody(folder) as watched,
        served_app(folder, OPENAI_BASE_URL=model.url, **watched) as address,
    ):
        yield address


@pytest.fixture(scope="package")
def reader_url(chromium_path: str) -> Iterator[str]:
    """The reader's harness, `reader_app.py`."""
    with served(HERE / "reader_app.py") as address:
        yield address
