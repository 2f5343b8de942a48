"""The app in a real browser: what a user clicks first, on the sample papers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import ingest, open_store
from tests.browser.serving import ROOT, served_app
from tests.browser.settling import ON_A_PHONE, assert_fits, enter_hypothesis, hosts_asked, parameters, settled

READING = "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&r=bm25~abstract-tail"
PAGES = ("/", "/browse", READING, "/leaderboard")


@pytest.fixture(scope="module")
def app_url(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a store with the sample papers."""
    folder: Path = tmp_path_factory.mktemp("app")
    ingest(open_store(folder / "store.sqlite"), ROOT / "sample_data" / "sample_data.json")
    with served_app(folder) as address:
        yield address


def sentence(page: Page, index: int) -> str:
    """Selector of a sentence in the reader."""
    return f'.reader [data-i="{index}"]'


def test_a_deep_link_as_the_servers_first_page_opens_inside_the_app(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(page.get_by_role("link", name="Leaderboard")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("rotating night-shift work"))).to_be_visible()
    expect(page.get_by_role("link", name="app", exact=True)).to_have_count(0)


@ON_A_PHONE
@pytest.mark.parametrize("path", PAGES)
def test_a_phone_never_scrolls_sideways_and_no_other_host_is_asked(
    new_page: Callable[..., Page], app_url: str, path: str, phone: dict[str, object]
) -> None:
    page = new_page(**phone)
    hosts = hosts_asked(page)
    page.goto(app_url + path)
    assert_fits(page)
    assert hosts - {""} == {"127.0.0.1"}


def test_a_row_opens_its_instance_and_a_click_on_a_sentence_comes_back(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    expect(page.get_by_role("row").filter(has_text="sample_trial")).to_be_visible()
    settled(page)
    page.get_by_role("row").filter(has_text="sample_trial").click()
    expect(page.get_by_text("sample_trial in sample_data")).to_be_visible()
    settled(page)
    page.locator(sentence(page, 3)).click()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()
    assert parameters(page)["sentence"] == "3"
    page.reload()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()


def test_the_ledger_leads_to_the_sentence(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    first = page.get_by_role("table", name=re.compile("Marginal gain")).locator("tbody .sentence").first
    index = first.inner_text()
    settled(page)
    first.click()
    expect(page.get_by_text(f"Sentence {index}", exact=True)).to_be_visible()
    expect(page.locator(sentence(page, int(index)))).to_be_in_viewport()


def test_an_edited_hypothesis_moves_the_picks_and_goes_into_the_link(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    ledger = page.get_by_role("table", name=re.compile("Marginal gain of each pick of bm25"))
    expect(ledger).to_be_visible()
    before = ledger.locator("tbody td:first-child").all_inner_texts()
    settled(page)
    page.get_by_role("button", name="Edit hypothesis").click()
    box = page.get_by_role("textbox", name=re.compile("Hypothesis that"))
    enter_hypothesis(box, "Body mass index explains diabetes")
    expect(page.get_by_role("heading", name="Body mass index explains diabetes")).to_be_visible()
    expect(page.get_by_text("Not scored: the gold was made for the original")).to_be_visible()
    assert parameters(page)["h"] == "Body mass index explains diabetes"
    expect(ledger).to_have_count(0)  # nobody has said yet that the gold still applies
    page.keyboard.press("Escape")  # the editor lies over it
    page.get_by_text("Score it as if the gold still applied", exact=True).click()
    expect(ledger.locator("tbody td:first-child").first).not_to_have_text(before[0])
    assert parameters(page)["asif"] == "1"


def test_copy_link_restores_everything_elsewhere(new_page: Callable[..., Page], app_url: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    wanted = READING.replace("bm25~", "bm25;k1=0.9~") + "&h=Night+work&asif=1&aspect=A7&sentence=12&system=1"
    page.goto(app_url + wanted)
    expect(page.get_by_role("heading", name="Night work")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = new_page()
    other.goto(link)
    expect(other.get_by_role("heading", name="Night work")).to_be_visible()
    expect(other.get_by_text("Sentence 12", exact=True)).to_be_visible()
    expect(other.get_by_role("heading", name="What each pick of abstract-tail adds")).to_be_visible()
    expect(other.get_by_role("button", name="Show all aspects")).to_be_visible()
    expect(other.get_by_text("bm25 k1=0.9").first).to_be_visible()
    assert parameters(other).items() >= parameters(wanted).items()


def test_runs_are_started_watched_and_compared(page: Page, app_url: str) -> None:
    page.goto(app_url + "/leaderboard?dataset=sample_data")
    for retriever in ("bm25", "lead"):
        expect(page.get_by_role("button", name="Start or resume a run")).to_be_visible()
        settled(page)
        page.get_by_role("button", name="Start or resume a run").click()
        dialog = page.get_by_role("dialog")
        box = dialog.get_by_role("combobox", name=re.compile("Retriever"))
        box.click()
        page.get_by_role("option", name=retriever, exact=True).click()
        dialog.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_text(f"{retriever} on sample_data")).to_be_visible()
        expect(
            page.get_by_role("row").filter(has=page.get_by_role("cell", name=retriever, exact=True))
        ).to_be_visible()
    for retriever in ("bm25", "lead"):
        row = page.get_by_role("row").filter(has=page.get_by_role("cell", name=retriever, exact=True))
        settled(page)
        row.click()
        expect(row).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("by paired randomisation")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    settled(page)
    page.get_by_role("table", name="Instances by the size of the difference").locator(
        "tbody tr"
    ).first.click()
    expect(page.get_by_role("heading", name="What each pick of bm25 adds")).to_be_visible()
    assert parameters(page)["r"] == "bm25~lead"
    page.go_back()
    expect(page.get_by_text("by paired randomisation")).to_be_visible()


def test_a_closed_popover_does_not_bring_old_values_back(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    heading = page.get_by_role("columnheader", name=re.compile("^Sentences"))
    expect(heading).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Sort", exact=True).click()
    expect(page.get_by_role("combobox", name=re.compile("Sort by"))).to_be_visible()
    page.keyboard.press("Escape")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    settled(page)
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert (parameters(page)["sort"], parameters(page)["desc"]) == ("n_sentences", "1")


def test_back_to_the_original_hypothesis_stays_there(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(page.get_by_role("heading", name=re.compile("What each pick of bm25"))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Edit hypothesis").click()
    page.get_by_role("button", name=re.compile("negation")).click()
    expect(page.get_by_role("heading", name=re.compile("does not increase"))).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Back to the original").click()
    expect(page.get_by_role("heading", name=re.compile("work increases"))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="lead", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("work increases"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("lead")).first).to_be_visible()
    assert "h" not in parameters(page)


def test_the_browsers_back_returns_to_the_instance_before(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(page.get_by_text("1 of 6")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("2 of 6")).to_be_visible()
    settled(page)
    page.go_back()
    expect(page.get_by_text("1 of 6")).to_be_visible()
    assert parameters(page)["instance"] == "sample_cohort"
