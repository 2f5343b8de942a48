"""Drafts read by keyboard alone, and nothing a model wrote is ever more than text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.perturb import Draft, HypothesisDrafts, MadeBy, hypothesis_variants
from tests.browser.settling import ON_A_PHONE, assert_fits, settled

HOSTILE = "<script>document.title='taken'</script> ![x](http://127.0.0.1:9/x.png) <img src=x> **bold** $x^2$"
REVIEW = "/wording?dataset=sample_data&part=review"


@pytest.fixture(scope="module", autouse=True)
def _drafts(store: Store) -> None:
    """A draft for each paper."""
    made_by = MadeBy("tiny", "paraphrase 1-abc", "2026-01-31T10:00:00+00:00")
    HypothesisDrafts(store, "sample_data").add(
        Draft(one, "paraphrase:tiny", "", f"{HOSTILE} {one}", made_by=made_by)
        for one in store.ids("sample_data")
    )


@ON_A_PHONE
def test_a_draft_is_only_ever_text_and_a_phone_never_scrolls_sideways(
    new_page: Callable[..., Page], app_url: str, phone: dict[str, object]
) -> None:
    page = new_page(**phone)
    page.goto(app_url + REVIEW)
    expect(page.get_by_text("**bold** $x^2$ sample_cohort")).to_be_visible()
    assert page.locator("[data-testid=stMain] img").count() == 0
    assert page.title() != "taken"
    assert_fits(page)


def count(page: Page, name: str, number: int) -> None:
    """Wait until so many are counted and the page is done: while it is drawn again it hears no key."""
    expect(page.get_by_role("radio", name=f"{name} ({number})", exact=True)).to_be_visible()
    settled(page)


def test_drafts_are_reviewed_by_keyboard(page: Page, app_url: str, store: Store) -> None:
    page.goto(app_url + REVIEW)
    count(page, "Waiting", 6)
    name = page.get_by_role("textbox", name="Your name or initials")
    name.fill("Ana")
    name.press("Enter")
    expect(page.get_by_role("button", name="Accept Shortcut A")).to_be_enabled()
    settled(page)
    page.get_by_role("heading", name="Wording").click()
    page.keyboard.press("a")
    count(page, "Waiting", 5)
    page.keyboard.press("e")
    words = page.get_by_role("textbox", name="Your words")
    expect(words).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Typed by Ana")
    page.keyboard.press("ControlOrMeta+Enter")
    count(page, "Accepted", 2)
    expect(words).to_be_hidden()
    expect(page.get_by_role("button", name="Reject Shortcut X")).to_be_enabled()
    for key, kind, number in (("x", "Rejected", 1), ("u", "Rejected", 0), ("Shift+A", "Accepted", 6)):
        page.keyboard.press(key)
        count(page, kind, number)
    first, second, *_ = store.ids("sample_data")
    texts = hypothesis_variants(store, "sample_data")["paraphrase:tiny"]
    assert texts[first].startswith("<script>")
    assert texts[second] == "Typed by Ana"
