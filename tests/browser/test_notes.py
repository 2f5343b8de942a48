"""Flags, comments and conditions in a browser: set by hand, seen where they stand, opened again from a link."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.runs import execute, plan
from evidencebench_core.runs.notes import NoteStore
from tests.browser.settling import parameters, press, sentence, settled


@pytest.fixture(scope="module")
def run(store: Store) -> str:
    """Id of a run of bm25."""
    planned = plan(store, "sample_data", "bm25")
    list(execute(planned))
    return planned.spec.id


def test_a_sentence_is_flagged_and_marked(page: Page, app_url: str, store: Store) -> None:
    page.goto(app_url + "/browse?instance=sample_trial&r=bm25")
    row = sentence(page, 3)
    row.click()
    settled(page)
    press(page, "Flag or comment")
    page.get_by_text("⚑ Flag").click()
    page.get_by_role("textbox", name="Comment").fill("<b>Odd</b>")
    page.get_by_role("textbox", name="Author").fill("ml")
    press(page, "Save")
    mark = row.get_by_role("img", name="flagged: ml: ⚑ <b>Odd</b>")
    expect(mark).to_be_visible()
    expect(row).to_have_attribute("aria-labelledby", "m3 t3 n3")
    (note,) = [note for note in NoteStore(store).notes_on("sample_data") if note.author == "ml"]
    assert (note.sentence, note.flagged, note.text) == (3, True, "<b>Odd</b>")
    page.keyboard.press("Escape")
    press(page, "All instances")
    expect(page.get_by_role("cell", name="⚑ 1, 1 comment")).to_be_visible()


def test_a_condition_is_set_followed_by_next_and_taken_away(
    new_page: Callable[..., Page], app_url: str, run: str
) -> None:
    page = new_page()
    page.goto(app_url + "/browse?dataset=sample_data")
    press(page, "Add a condition")
    settled(page)
    page.get_by_label("%", exact=True).fill("60")
    page.keyboard.press("Enter")
    settled(page)
    press(page, "Add")
    chip = page.get_by_role("button", name=f"✕ bm25 ({run[:6]}), ER@Optimal is below 60%")
    expect(chip).to_be_visible()
    rows = page.locator("tbody tr[data-id]")
    settled(page)
    n = rows.count()
    assert 1 < n <= 6
    assert run in parameters(page)["if"]
    page.keyboard.press("Escape")
    ids = rows.evaluate_all("rows => rows.map((row) => row.dataset.id)")
    rows.first.click()
    expect(page.get_by_text(f"1 of {n}")).to_be_visible()
    press(page, "Next")
    expect(page).to_have_url(re.compile(f"instance={ids[1]}"))
    press(page, "All instances")
    press(page, f"✕ bm25 ({run[:6]}), ER@Optimal is below 60%")
    expect(chip).to_have_count(0)
    expect(rows).to_have_count(6)
