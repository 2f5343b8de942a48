"""Flags and comments in a browser: set by hand, seen where they stand."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.runs.notes import NoteStore
from tests.browser.settling import press, sentence, settled


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
    press(page, "All")
    expect(page.get_by_role("cell", name="⚑ 1, 1 comment")).to_be_visible()
