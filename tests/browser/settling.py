"""Waiting for a page to be done: while it is drawn again, a click or a key may be lost."""

from __future__ import annotations

from playwright.sync_api import Page, expect

__all__ = ["settled"]


def settled(page: Page) -> None:
    """Wait until the page's script has ended and nothing of what is shown is stale."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
