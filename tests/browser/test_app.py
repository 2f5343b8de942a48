"""The app in a real browser: what a user clicks first, on the sample papers."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import Store
from tests.browser.conftest import DESKTOP
from tests.browser.settling import PHONE, parameters, press, sentence, settled

READING = "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&live=bm25~abstract-tail"


def table(page: Page, name: str):
    return page.get_by_role("table", name=re.compile(name)).locator("tbody")


@contextmanager
def busy() -> Iterator[None]:
    """Two processes beside that leave the app little time."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def heading(page: Page, text: str):
    return page.get_by_role("heading", name=re.compile(text))


@pytest.mark.flow
def test_a_row_opens_its_instance_and_a_sentence_is_flagged(page: Page, app_url: str, store: Store) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    row = page.get_by_role("row").filter(has_text="trial")
    expect(row).to_be_visible()
    settled(page)
    row.click()
    expect(page.get_by_text("Instance trial of sample_data")).to_be_visible()
    settled(page)
    sentence(page, 3).click()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("sentence=3"))
    page.reload()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()
    expect(page).to_have_title("sample_trial · Browse · EvidenceBench Explorer")
    press(page, "Flag or comment")
    page.get_by_text("⚑ Flag").click()
    page.get_by_role("textbox", name="Comment").fill("<b>Odd</b>")
    page.get_by_role("textbox", name="Author").fill("ml")
    press(page, "Save")
    expect(sentence(page, 3).get_by_role("img", name="flagged: ml: ⚑ <b>Odd</b>")).to_be_visible()
    expect(sentence(page, 3)).to_have_attribute("aria-labelledby", "m3 t3 n3")
    (note,) = NoteStore(store).notes_on("sample_data")
    assert (note.author, note.sentence, note.flagged, note.text) == ("ml", 3, True, "<b>Odd</b>")
    page.keyboard.press("Escape")
    press(page, "All")
    expect(page.get_by_role("cell", name="⚑ 1, 1 comment")).to_be_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_paper_begins_on_the_first_screen(
    new_page: Callable[..., Page], app_url: str, size: dict[str, int]
) -> None:
    page = new_page(viewport=size)
    page.goto(app_url + READING + "~lead")  # three retrievers
    expect(heading(page, "What each pick of bm25 adds")).to_be_visible()
    settled(page)
    box = page.locator(".reader").bounding_box()
    assert box is not None
    assert box["y"] < 300
    if size == DESKTOP:
        expect(page.get_by_role("button", name="Show the keys")).to_be_in_viewport(ratio=1)


@pytest.mark.flow
def test_keys_move_the_one_selection_and_leave_fields_alone(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(sentence(page, 1)).to_be_visible()
    settled(page)
    page.keyboard.press("j")  # bm25 picked 1
    expect(page.locator(".s:focus")).to_have_attribute("data-i", "1")
    expect(page.get_by_text("Sentence 1", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("sentence=1"))
    press(page, "Edit hypothesis")
    box = page.get_by_role("textbox", name=re.compile("Hypothesis that"))
    box.press("End")
    box.press("j")
    expect(box).to_be_focused()
    expect(box).to_have_value(re.compile(r"employees\.j$"))


@pytest.mark.flow
def test_a_click_just_after_typing_keeps_what_was_typed(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    search = page.get_by_label("Search hypotheses")
    column = page.get_by_role("columnheader", name=re.compile("^Sentences"))
    expect(column).to_be_visible()
    with busy():
        for delay, text, order in (
            (10, "night", "ascending"),
            (60, "diabetes", "descending"),
            (150, "night shift", "ascending"),
        ):
            settled(page)
            search.fill(text)
            search.press("Enter")
            page.wait_for_timeout(delay)
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
    with busy():
        for _ in range(3):
            page.get_by_role("button", name="Next page").click(no_wait_after=True)
        expect(page.get_by_text("4 of 6")).to_be_visible()
        settled(page)
        expect(page.get_by_text("4 of 6")).to_be_visible()
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_text("5 of 6")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("4 of 6")).to_be_visible()
    page.go_forward()
    expect(page.get_by_text("5 of 6")).to_be_visible()
    press(page, "All")
    expect(table(page, "Instances")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("5 of 6")).to_be_visible()


def test_the_scroll_of_the_list_is_kept(new_page: Callable[..., Page], app_url: str) -> None:
    page = new_page(viewport={"width": 1440, "height": 400})
    page.goto(app_url + "/browse?dataset=sample_data")
    row = table(page, "Instances").locator("tr").last
    expect(row).to_be_visible()
    settled(page)
    row.scroll_into_view_if_needed()
    before = page.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    assert before > 0
    row.click()
    expect(page.locator(".reader")).to_be_visible()
    settled(page)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    page.go_back()
    expect(row).to_be_visible()
    settled(page)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == before


def test_the_address_restores_everything_elsewhere(new_page: Callable[..., Page], app_url: str) -> None:
    wanted = READING.replace("bm25~", "bm25;k1=0.9~") + "&h=Night+work&asif=1&aspect=A7&sentence=12&system=1"
    page = new_page()
    page.goto(app_url + wanted)
    expect(heading(page, "^Night work$")).to_be_visible()
    expect(page.get_by_text("Sentence 12", exact=True)).to_be_visible()
    expect(heading(page, "What each pick of abstract-tail adds")).to_be_visible()
    expect(page.get_by_text("bm25 k1=0.9").first).to_be_visible()
    assert parameters(page).items() >= parameters(wanted).items()


@pytest.mark.flow
def test_runs_are_started_compared_and_travel_to_the_reader(
    page: Page, app_url: str, own_dataset: str
) -> None:
    page.goto(f"{app_url}/runs?dataset={own_dataset}")
    press(page, "Start a run")  # bm25 is chosen
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name=re.compile("Retriever")).click()
    page.get_by_role("option", name="lead", exact=True).click()
    page.keyboard.press("Tab")
    settled(page)
    dialog.get_by_role("button", name="Start", exact=True).click()
    for retriever in ("bm25", "lead"):
        cell = page.get_by_role("cell", name=retriever, exact=True)
        expect(page.get_by_role("row").filter(has=cell)).to_be_visible()
    expect(heading(page, "Differences on ER@Optimal")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)  # the map and the slices
    settled(page)
    page.get_by_role("link", name="Browse").click()
    expect(page.get_by_role("columnheader", name="lead")).to_be_visible()
    settled(page)
    table(page, "Instances").locator("tr").first.click()
    expect(table(page, "Aspect Recall on this instance").locator("tr")).to_have_count(4)
    assert parameters(page)["dataset"] == own_dataset
