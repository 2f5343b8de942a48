"""The reasons of a ranker as a user opens them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import served
from tests.browser.settling import settled


@pytest.fixture(scope="module")
def reasons_url() -> Iterator[str]:
    with served(Path(__file__).parent / "ranker_app.py") as url:
        yield url


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, {"width": 390, "height": 844}])
def test_a_pick_opens_its_features_and_stays_open(page: Page, reasons_url: str, size) -> None:
    page.set_viewport_size(size)
    page.goto(reasons_url)
    picks = page.locator(".whys .why")
    expect(picks).to_have_count(2, timeout=60_000)
    settled(page)
    first = picks.first
    expect(first.locator(".reason")).to_have_text("Close to the hypothesis in meaning.")
    expect(first.locator(".coverage")).to_have_text("Chosen for coverage: rank 3 by score alone.")
    expect(first.get_by_role("img")).to_have_attribute(
        "aria-label",
        "Meaning shared with the hypothesis +1.50, Where it stands +0.50, Words that tell its purpose −0.30",
    )
    expect(first.locator(".features")).to_be_hidden()
    first.locator("summary").press("Enter")
    expect(first.locator(".features tr")).to_have_text(["Closeness in meaning0.62+1.50", "Citations2−0.30"])
    # what takes from the score is told apart by more than its colour and its side
    takes = first.locator(".groups .part.takes")
    assert takes.evaluate("node => getComputedStyle(node).borderStyle") == "solid"
    first.locator("button.sentence").click()
    expect(page.get_by_text("clicked=1")).to_be_visible()
    expect(first.locator(".features")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_sentence_is_text(page: Page, reasons_url: str) -> None:
    page.goto(reasons_url)
    chip = page.locator(".whys button.sentence").first
    expect(chip).to_have_attribute("title", "<b>Tea</b> helps & *heals*.", timeout=60_000)
