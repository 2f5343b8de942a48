"""The guard, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from tests.browser.serving import served_app
from tests.browser.settling import settled

TOKEN = "correct-horse-battery"  # noqa: S105 - made up
READING = "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&r=bm25~abstract-tail"


@pytest.fixture(scope="module")
def closed_url(chromium_path: str, store: Store) -> Iterator[str]:
    """The app on the same store, behind a token."""
    with served_app(store.path.parent, EVIDENCEBENCH_TOKEN=TOKEN) as address:
        yield address


def test_the_token_is_asked_once_and_leads_to_the_page_of_the_link(page: Page, closed_url: str) -> None:
    page.goto(closed_url + READING)
    expect(page.get_by_text("night-shift")).to_have_count(0)
    page.goto(f"{closed_url}{READING}&token={TOKEN}")
    expect(page.get_by_role("heading", name="rotating night-shift work")).to_be_visible()
    assert page.url == closed_url + READING
    page.reload()
    expect(page.get_by_role("heading", name="rotating night-shift work")).to_be_visible()


def test_a_fresh_load_asks_for_nothing_that_is_not_there(page: Page, app_url: str) -> None:
    """But for Streamlit's own probe of ``/PAGE/_stcore``, with which it looks for the app's root."""
    answers: list[tuple[int, str]] = []
    page.on("response", lambda response: answers.append((response.status, response.url)))
    page.goto(app_url + READING)
    expect(page.get_by_role("heading", name="rotating night-shift work")).to_be_visible()
    settled(page)
    assert [answer for answer in answers if answer[0] >= 400 and "/_stcore/" not in answer[1]] == []
