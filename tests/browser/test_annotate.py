"""Mark evidence in a browser: a mark by digit and click, and a proposal decided by keys."""

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.annotation.propose import ProposalInput, proposal_plan
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.papers import Paper
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.runs import execute
from tests.annotation.scripted_model import scripted_answer
from tests.browser.settling import sentence, settled
from tests.llm.server import answering, reply, scripted

HYPOTHESIS = "Exposure in early life changes later health."
WORDS = ("adjudication", "volunteers")  # each stands in one sentence of the paper


def kept(store: Store, name: str) -> str:
    """The number of a sample paper in the store."""
    instance = store.get("sample_data", "sample_cohort")
    paper = Paper(name, name, instance.sentences, instance.sentence_types, "text", {}, ())
    return str(OwnPapers(store).save(paper, name, HYPOTHESIS).id)


def open_as(name: str, page: Page, address: str) -> None:
    """Open a paper and say who marks it."""
    page.goto(address)
    page.get_by_role("button", name="Mark evidence in this paper").click()
    page.get_by_label("Your name or initials").fill(name)
    page.get_by_role("button", name="Start marking").click()


@pytest.mark.flow
def test_a_proposal_is_decided_by_keys(page: Page, app_url: str, store: Store) -> None:
    number = kept(store, "Proposed")
    given = ProposalInput(f"own:{number}", aspects=tuple(f"It is about {word}" for word in WORDS))
    with scripted(answering(lambda sent: reply(scripted_answer(sent)))) as server:
        for _ in execute(proposal_plan(store, [given], "m", llm=LLM(Connection(server.url, ""), store))):
            pass
    open_as("Ada", page, f"{app_url}/annotate?paper={number}")
    expect(page.get_by_text("1 of 4", exact=False)).to_be_visible()
    for key, place in (("j", 2), ("k", 1)):  # the desk's, not the reader's
        page.wait_for_load_state("networkidle")
        settled(page)
        page.keyboard.press(key)
        expect(page.get_by_text(f"{place} of 4", exact=False)).to_be_visible()
    sentence(page, 0).click()
    settled(page)
    page.keyboard.press("j")  # the reader's: it has the focus
    expect(page.locator(".s:focus")).to_have_attribute("data-mark", "proposed")
    expect(page.get_by_text("1 of 4", exact=False)).to_be_visible()
    page.wait_for_url(lambda url: "sentence=0" not in url)  # Python hears of the last of quick steps
    page.get_by_role("heading").first.click()
    for left, key in ((3, "a"), (2, "a"), (1, "x")):  # the aspect, its mark, and not the second aspect
        expect(page.locator(".st-key-decide-here").get_by_role("button").first).to_be_enabled()
        settled(page)
        page.keyboard.press(key)
        if left > 1:
            expect(page.get_by_text(f"1 of {left}", exact=False)).to_be_visible()
    expect(page.get_by_text("Everything is decided.")).to_be_visible()
    annotation = Annotations(store).get(given.paper, "Ada")
    assert annotation is not None
    assert [aspect.text for aspect in annotation.aspects] == [f"It is about {WORDS[0]}"]


def test_an_aspect_by_digit_and_a_mark_by_click(page: Page, app_url: str, store: Store) -> None:
    number = kept(store, "Marked")
    open_as("Ben", page, f"{app_url}/annotate?paper={number}")
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
