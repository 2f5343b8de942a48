"""In a real browser: a square of Compare's map, two rankings in columns, the way into the reader."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from evidencebench_core.analyses.sample import ingest_sample
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.browser.serving import ROOT
from tests.browser.settling import assert_fits, go_back, parameters, sentence, settled

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def runs(store: Store) -> dict[str, str]:
    """Ids of the sample's runs, by retriever."""
    ingest_sample(store, ROOT / "sample_data" / "sample_data.json")
    return {run.retriever: run.id for run in RunStore(store).runs("sample_data")}


def box_of(place: Locator) -> FloatRect:
    box = place.bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize("phone", [False, True])
def test_a_click_on_a_square_opens_its_pair(
    new_page: Callable[..., Page], app_url: str, runs: dict[str, str], phone: bool
) -> None:
    page = new_page(viewport=PHONE) if phone else new_page()
    bm25, lead, tail = (runs[name] for name in ("bm25", "lead", "abstract-tail"))
    page.goto(
        f"{app_url}/compare?dataset=sample_data&task=er%4010&runs={bm25},{lead},{tail}&a={bm25}&b={lead}"
    )
    squares = page.locator(".st-key-wide-matrix button")
    expect(squares).to_have_count(6, timeout=60_000)  # the first page of a server
    labels = {bm25: "bm25", lead: "lead", tail: "abstract-tail"}
    for a, b in ((tail, lead), (bm25, tail), (bm25, lead), (tail, lead)):
        settled(page)
        square = page.get_by_title(re.compile(f"^{labels[a]}.* minus {labels[b]}"))
        square.click()
        expect(square).to_have_attribute("aria-pressed", "true")
        expect(square).to_be_focused()
        expect(page).to_have_url(re.compile(f"[?&]a={a}(&|$)"))
        expect(page).to_have_url(re.compile(f"[?&]b={b}(&|$)"))
    assert_fits(page)


def test_two_rankings_in_columns_lead_to_the_reader(page: Page, app_url: str, runs: dict[str, str]) -> None:
    chosen = f"a={runs['bm25']}&b={runs['abstract-tail']}"
    page.goto(f"{app_url}/compare?dataset=sample_data&task=er%4010&{chosen}")
    page.locator(".st-key-seen-rankings").scroll_into_view_if_needed()
    table = page.get_by_role("table", name=re.compile("^Instances by how far"))
    divergences = table.locator("tbody td.number").filter(has_text=re.compile(r"^\d\.\d\d$"))
    expect(divergences.first).to_be_visible()
    values = [float(text) for text in divergences.all_inner_texts()]
    assert values == sorted(values, reverse=True)
    settled(page)
    table.locator("tbody tr").first.click()
    cards = page.locator(".ranks .card")
    expect(cards.first).to_be_visible()
    settled(page)
    assert parameters(page)["instance"].startswith("sample_")
    lines = page.locator(".ranks .pair > svg > path")
    assert 2 * lines.count() == cards.count()
    # A line begins at the right edge of its left card and ends at the left edge of its right one, but for its stroke.
    index = lines.first.get_attribute("data-i")
    left, right = (page.locator(f'.card[data-i="{index}"][data-side="{side}"]') for side in (0, 1))
    drawn, start, end = (box_of(place) for place in (lines.first, left, right))
    assert drawn["x"] == pytest.approx(start["x"] + start["width"], abs=5)
    assert drawn["x"] + drawn["width"] == pytest.approx(end["x"], abs=5)
    # By keyboard: to the same sentence in the other column, and down from there.
    left.focus()
    page.keyboard.press("ArrowRight")
    expect(right).to_be_focused()
    expect(page.locator(".ranks .lit")).to_have_count(3)  # both cards and their line
    page.keyboard.press("ArrowLeft")
    expect(left).to_be_focused()
    page.keyboard.press("Enter")
    expect(sentence(page, int(index or -1))).to_have_class(re.compile("selected"))
    assert parameters(page)["sentence"] == index
    go_back(page)
    expect(cards.first).to_be_visible()
    page.get_by_role("radio", name="By rank").click()
    expect(page.locator(".ranks .title")).to_have_count(0)
    assert parameters(page)["order"] == "rank"


def test_on_browse_a_click_lights_the_sentence_beside_the_columns(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/browse?instance=sample_cohort&task=er%4010&r=bm25~abstract-tail&columns=1")
    card = page.locator(".ranks .card").nth(2)
    expect(card).to_be_visible()
    settled(page)
    index = int(card.get_attribute("data-i") or -1)
    card.click()
    expect(sentence(page, index)).to_have_class(re.compile("selected"))
    expect(page.locator(f'.ranks .card[data-i="{index}"][aria-current=true]')).to_have_count(2)
    settled(page)
    expect(card).to_be_focused()  # the next key goes on from here
