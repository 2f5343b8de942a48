"""The app in a real browser: what a user clicks first, on the sample papers."""

import re

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import Store
from tests.browser.settling import assert_accessible, parameters, press, sentence, settled


def table(page: Page, name: str):
    return page.get_by_role("table", name=re.compile(name)).locator("tbody")


@pytest.mark.flow
def test_a_row_opens_its_instance_and_a_sentence_is_flagged(page: Page, app_url: str, store: Store) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    row = page.get_by_role("row").filter(has_text="trial")
    expect(row).to_be_visible()
    settled(page)
    with page.context.expect_page() as tab:
        row.get_by_role("link").click(modifiers=["ControlOrMeta"])
    expect(tab.value.get_by_text("Instance sample_trial of sample_data")).to_be_visible()
    expect(row).to_be_visible()  # here the list stays
    row.click()
    expect(page.get_by_text("Instance sample_trial of sample_data")).to_be_visible()
    settled(page)
    sentence(page, 3).click()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("sentence=3"))
    page.reload()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()
    expect(page).to_have_title("sample_trial · Browse · EvidenceBench Explorer")
    press(page, "Flag or comment")
    page.get_by_text("⚑ Flag").click()
    page.get_by_role("textbox", name="Comment").press_sequentially("<b>Odj</b>")  # no key of the reader's
    page.get_by_role("textbox", name="Author").fill("ml")
    press(page, "Save")
    expect(sentence(page, 3).get_by_role("img", name="flagged: ml: ⚑ <b>Odj</b>")).to_be_visible()
    expect(sentence(page, 3)).to_have_attribute("aria-labelledby", "m3 t3 n3")
    (note,) = NoteStore(store).notes_on("sample_data")
    assert (note.author, note.sentence, note.flagged, note.text) == ("ml", 3, True, "<b>Odj</b>")
    page.keyboard.press("Escape")
    press(page, "All")
    expect(page.get_by_role("cell", name="⚑ 1, 1 comment")).to_be_visible()


@pytest.mark.flow
def test_a_click_just_after_typing_keeps_what_was_typed(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    search = page.get_by_label("Search hypotheses")
    column = page.get_by_role("columnheader", name=re.compile("^Sentences"))
    expect(column).to_be_visible()
    for text, order in (("diabetes", "ascending"), ("night shift", "descending")):
        settled(page)
        search.fill(text)
        search.press("Enter")
        column.get_by_role("button").click()
        expect(column).to_have_attribute("aria-sort", order)
        settled(page)
        assert parameters(page).items() >= {"q": text, "sort": "n_sentences"}.items()
    expect(table(page, "Instances").locator("tr")).to_have_count(1)


@pytest.mark.flow
def test_fast_clicks_are_steps_and_back_and_forward_work_at_once(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data&instance=sample_cohort&live=bm25")
    expect(page.get_by_text("1 of 6")).to_be_visible()
    settled(page)
    assert page.locator(".reader").evaluate("reader => reader.getBoundingClientRect().y") < 300
    step = page.locator("[data-testid=stPaginationNext], [data-testid=stNumberInputStepUp]")
    for _ in range(4):
        step.click(no_wait_after=True)
    expect(page.get_by_text("5 of 6")).to_be_visible()
    settled(page)
    step.click()
    expect(page.get_by_text("6 of 6")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("5 of 6")).to_be_visible()
    page.go_forward()
    expect(page.get_by_text("6 of 6")).to_be_visible()


def test_the_scroll_of_the_list_is_kept(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 400})
    page.goto(app_url + "/browse?dataset=sample_data")
    row = table(page, "Instances").locator("tr").last
    expect(row).to_be_visible()
    settled(page)
    row.scroll_into_view_if_needed()
    scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
    before = page.evaluate(scrolled)
    assert before > 0
    row.click()
    expect(page.locator(".reader")).to_be_visible()
    settled(page)
    assert page.evaluate(scrolled) == 0
    page.go_back()
    expect(row).to_be_visible()
    settled(page)
    assert page.evaluate(scrolled) == before


@pytest.mark.flow
def test_runs_are_started_compared_and_go_to_the_reader(page: Page, app_url: str, own_dataset: str) -> None:
    page.goto(f"{app_url}/runs?dataset={own_dataset}")
    press(page, "Start a run")  # bm25 is chosen
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name=re.compile("Retriever")).click()
    page.get_by_role("option", name="lead", exact=True).click()
    page.keyboard.press("Tab")
    settled(page)
    assert_accessible(page)
    dialog.get_by_role("button", name="Start", exact=True).click()
    for retriever in ("bm25", "lead"):
        cell = page.get_by_role("cell", name=retriever, exact=True)
        expect(page.get_by_role("row").filter(has=cell)).to_be_visible()
    expect(page.get_by_role("heading", name="Differences on ER@Optimal")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)  # the map and the slices
    settled(page)
    page.get_by_role("link", name="Browse").click()
    expect(page.get_by_role("columnheader", name="lead")).to_be_visible()
    settled(page)
    table(page, "Instances").locator("tr").first.click()
    expect(table(page, "Aspect Recall on this instance").locator("tr")).to_have_count(4)
    assert parameters(page)["dataset"] == own_dataset
