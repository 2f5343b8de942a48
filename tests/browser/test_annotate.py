"""Mark evidence in a browser: a mark by digit and click, and a proposal decided by keys."""

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store
from evidencebench_core.papers import Paper
from evidencebench_core.papers.own import OwnPaper, OwnPapers
from tests.annotation.scripted_model import save_proposal
from tests.browser.settling import sentence, settled


def kept(store: Store, name: str) -> OwnPaper:
    """A sample paper among those of one's own."""
    instance = store.get("sample_data", "sample_cohort")
    paper = Paper(name, name, instance.sentences, instance.sentence_types, "text", {}, ())
    return OwnPapers(store).save(paper, name, "Exposure in early life changes later health.")


def open_as(name: str, page: Page, address: str) -> None:
    """Open a paper and say who marks it."""
    page.goto(address)
    page.get_by_role("button", name="Mark evidence in this paper").click()
    page.get_by_label("Your name or initials").fill(name)
    page.get_by_role("button", name="Start marking").click()


@pytest.mark.flow
def test_a_proposal_is_decided_by_keys(page: Page, app_url: str, store: Store) -> None:
    own = kept(store, "Proposed")
    proposal = Annotation("model:m", own.hypothesis, own.n_sentences).add_aspect("First", sentences=[12])
    save_proposal(store, own.key, proposal.add_aspect("Second", sentences=[30]))
    open_as("Ada", page, f"{app_url}/annotate?paper={own.id}")
    expect(page.get_by_text("1 of 4", exact=False)).to_be_visible()
    for key, place in (("j", 2), ("k", 1)):  # the desk's, not the reader's
        page.wait_for_load_state("networkidle")
        settled(page)
        page.keyboard.press(key)
        expect(page.get_by_text(f"{place} of 4", exact=False)).to_be_visible()
    sentence(page, 0).click()
    page.wait_for_url(lambda url: "sentence=0" in url)
    settled(page)
    page.keyboard.press("j")  # the reader's: it has the focus
    expect(page.locator(".s:focus")).to_have_attribute("data-mark", "proposed")
    expect(page.get_by_text("1 of 4", exact=False)).to_be_visible()
    page.wait_for_url(lambda url: "sentence=12" in url)  # Python hears of the last of quick steps
    page.get_by_role("heading").first.click()
    for left, key in ((3, "a"), (2, "a"), (1, "x")):  # the aspect, its mark, and not the second aspect
        expect(page.locator(".st-key-decide-here").get_by_role("button").first).to_be_enabled()
        settled(page)
        page.keyboard.press(key)
        if left > 1:
            expect(page.get_by_text(f"1 of {left}", exact=False)).to_be_visible()
    expect(page.get_by_text("Everything is decided.")).to_be_visible()
    annotation = Annotations(store).get(own.key, "Ada")
    assert annotation is not None
    assert [aspect.text for aspect in annotation.aspects] == ["First"]


def test_an_aspect_by_digit_and_a_mark_by_click(page: Page, app_url: str, store: Store) -> None:
    open_as("Ben", page, f"{app_url}/annotate?paper={kept(store, 'Marked').id}")
    page.get_by_label("New study aspect").fill("What was measured")
    page.get_by_role("button", name="Add aspect").click()
    expect(page.get_by_label("A1 says")).to_be_visible()  # it is chosen: a click marks for it
    settled(page)
    sentence(page, 4).click()
    expect(page.get_by_text("1 of 1 have a sentence", exact=False)).to_be_visible()
    settled(page)
    sentence(page, 4).click()  # a second click takes the mark back
    expect(page.get_by_text("0 of 1 have a sentence", exact=False)).to_be_visible()
    settled(page)
    page.keyboard.press("1")  # let go of it
    expect(page.get_by_label("A1 says")).to_have_count(0)
