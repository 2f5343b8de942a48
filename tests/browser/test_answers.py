"""One answer in a browser: keys and clicks choose what is read beside it, and its text stays text."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from evidencebench_core.answers.read import answer_set
from evidencebench_core.answers.store import add_answers
from evidencebench_core.data import Store
from tests.answers.judging import add_sample

HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$ :red[y]"


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


def test_hostile_text_is_drawn_as_text(new_page: Callable[..., Page], app_url: str, store: Store) -> None:
    sentence = {
        "id": HOSTILE, "text": f"{HOSTILE} [1].", "citations": ["1"], "relevance": "required",
        "assessments": [{"document": "1", "relation": "supporting", "excerpt": HOSTILE}],
    }  # fmt: skip
    answer = {"kind": "answer", "question_id": "q", "system": "S", "answer": HOSTILE, "sentences": [sentence]}
    document = {"kind": "document", "document_id": "1", "title": HOSTILE, "sentences": [HOSTILE, "Tea."]}
    add_answers(store, "hostile", answer_set([("line 1", answer), ("line 2", document)]))
    page = new_page()
    page.goto(app_url + "/answers?set=hostile&part=answer")
    expect(page.locator(".prose .text")).to_contain_text(HOSTILE)
    expect(page.locator(".st-key-answers-unit")).to_contain_text(HOSTILE)
    assert page.locator("img[src=x]").count() == 0
