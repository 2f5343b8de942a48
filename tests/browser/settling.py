"""Waiting for a page to be done: what is clicked, typed or uploaded while it is drawn again may be lost."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from playwright.sync_api import Locator, Page, expect


def settled(page: Page) -> None:
    """Wait until the page's script has ended and nothing of what is shown is stale."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)


def enter_hypothesis(box: Locator, text: str) -> None:
    """Type a hypothesis into a settled page, and wait until the page is drawn with it.

    A file that is chosen in the few milliseconds in which a run starts is lost: Streamlit (1.67) clears the
    message with the address to upload it to from its queue.
    """
    settled(box.page)
    box.fill(text)
    box.press("Control+Enter")
    expect(box.page).to_have_url(re.compile(f"[?&]h={re.escape(quote_plus(text))}(&|$)"))
    settled(box.page)
