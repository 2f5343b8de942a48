"""One answer in a browser: keys and clicks choose what is read beside it."""

import re

from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from tests.answers.judging import add_sample


def test_keys_and_clicks_choose_a_sentence_and_its_document(page: Page, app_url: str, store: Store) -> None:
    add_sample(store)
    page.goto(app_url + "/answers?set=sample+answers&part=answer&question=migraine&system=Magpie")
    here = page.locator(".prose .one.here")
    unit = page.locator(".st-key-answers-unit")
    expect(here).to_contain_text("Tamaric tea cut migraine days")
    expect(unit).to_contain_text("Sentence 1 cites 900003")
    page.keyboard.press("j")
    expect(here).to_contain_text("Black tea did not change them")
    expect(unit).to_contain_text("Sentence 2 cites")
    page.keyboard.press("k")
    expect(unit).to_contain_text("Sentence 1 cites")
    page.keyboard.press("n")  # the second is needed and supported: no problem
    expect(unit).to_contain_text("Sentence 3 cites")
    page.get_by_role("button", name="999999").click()
    expect(unit).to_contain_text("Sentence 3 cites 999999")
    expect(page).to_have_url(re.compile("sentence=3&document=999999"))
