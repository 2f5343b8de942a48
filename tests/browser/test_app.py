"""The app in a real browser: what a user clicks first, on the sample papers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store, ingest
from evidencebench_core.data.stream import iter_raw
from tests.browser.conftest import DESKTOP
from tests.browser.serving import SAMPLE
from tests.browser.settling import PHONE, enter_hypothesis, go_back, parameters, press, sentence, settled

READING = "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&r=bm25~abstract-tail"


def table(page: Page, name: str):
    return page.get_by_role("table", name=re.compile(name)).locator("tbody")


def heading(page: Page, text: str):
    return page.get_by_role("heading", name=re.compile(text))


def test_a_deep_link_as_the_servers_first_page_opens_inside_the_app(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(page.get_by_role("link", name="Leaderboard")).to_be_visible()
    expect(heading(page, "rotating night-shift work")).to_be_visible()
    expect(page.get_by_role("link", name="app", exact=True)).to_have_count(0)


def test_the_window_and_the_menu_say_where_one_is(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(page).to_have_title("sample_cohort · Browse · EvidenceBench Explorer")
    page.goto(app_url + "/dataset?dataset=sample_data")
    expect(page).to_have_title("Dataset · EvidenceBench Explorer")
    expect(page.get_by_role("button", name="Analyse: Dataset")).to_be_visible()


def test_the_code_of_charts_is_loaded_while_a_page_without_any_is_read(page: Page, app_url: str) -> None:
    with page.expect_response(re.compile(r"/static/js/PlotlyChart\.[^/]+\.js$")) as response:
        page.goto(app_url + "/browse?instance=sample_cohort")
    assert response.value.ok
    settled(page)
    expect(page.locator(".stPlotlyChart")).to_have_count(0)


@pytest.mark.flow
def test_a_row_opens_its_instance_and_a_click_on_a_sentence_comes_back(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    row = page.get_by_role("row").filter(has_text="sample_trial")
    expect(row).to_be_visible()
    settled(page)
    row.click()
    expect(page.get_by_text("sample_trial in sample_data")).to_be_visible()
    settled(page)
    sentence(page, 3).click()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()
    assert parameters(page)["sentence"] == "3"
    page.reload()
    expect(page.get_by_text("Sentence 3", exact=True)).to_be_visible()


@pytest.mark.parametrize(("size", "lowest"), [(DESKTOP, 300), (PHONE, 844)])
def test_the_paper_is_on_the_first_screen(
    new_page: Callable[..., Page], app_url: str, size: dict[str, int], lowest: int
) -> None:
    page = new_page(viewport=size)
    page.goto(app_url + READING + "~lead")  # three retrievers
    expect(heading(page, "What each pick of bm25 adds")).to_be_visible()
    settled(page)
    box = sentence(page, 0).bounding_box()
    assert box is not None
    assert box["y"] + (box["height"] if size == PHONE else 0) < lowest
    if size == DESKTOP:
        expect(page.get_by_role("button", name="Show the keys")).to_be_in_viewport(ratio=1)


@pytest.mark.flow
def test_keys_walk_the_paper_without_a_click_and_leave_fields_alone(page: Page, app_url: str) -> None:
    page.add_init_script(
        """window.listening = new Set();
        for (const [name, change] of [['addEventListener', 'add'], ['removeEventListener', 'delete']]) {
            const own = document[name].bind(document);
            document[name] = (type, listener, ...rest) => {
                if (type === 'keydown' && String(listener).includes('takesKeys')) listening[change](listener);
                own(type, listener, ...rest);
            };
        }"""
    )
    page.goto(app_url + READING)
    expect(sentence(page, 1)).to_be_visible()
    settled(page)
    page.keyboard.press("Control+j")
    expect(page.locator(".s:focus")).to_have_count(0)
    page.keyboard.press("j")  # bm25 picked 1
    expect(page.locator(".s:focus")).to_have_attribute("data-i", "1")
    press(page, "Edit hypothesis")
    box = page.get_by_role("textbox", name=re.compile("Hypothesis that"))
    box.press("End")
    box.press("j")
    expect(box).to_be_focused()
    expect(box).to_have_value(re.compile(r"employees\.j$"))
    box.press("Backspace")
    page.keyboard.press("Escape")
    assert page.evaluate("listening.size") == 1
    settled(page)
    page.get_by_role("link", name="Leaderboard").click()
    expect(page.locator(".reader")).to_have_count(0)
    settled(page)
    assert page.evaluate("listening.size") == 0


def test_shared_words_are_underlined_once_asked_for(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(sentence(page, 1)).to_be_visible()
    text = sentence(page, 1).locator(".t").inner_text()
    press(page, "Settings")
    page.get_by_text("Underline the words that sentences share").click()
    words = sentence(page, 1).locator(".word")
    expect(words).to_have_text(
        ["the", "of", "rotating", "night", "work", "type", "2", "diabetes", "hospital"]
    )
    # "hospital" is the rarest, "of" is nearly everywhere: thickness, not colour, tells them apart
    thickness = "word => getComputedStyle(word).textDecorationThickness"
    assert [words.nth(place).evaluate(thickness) for place in (1, 5, 8)] == ["1px", "2px", "3.5px"]
    expect(words.last).to_have_attribute(
        "title", re.compile(r"^adds \d\.\d\d to the sentence's bm25 score, ")
    )
    assert sentence(page, 1).locator(".t").inner_text() == text
    assert parameters(page)["words"] == "1"
    page.get_by_text("Underline the words that sentences share").click()
    expect(words).to_have_count(0)


def test_a_search_for_sentences_shows_them_and_opens_the_paper_there(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data&s=adherence")
    found = table(page, "Instances").locator("td.snippet")
    expect(found.locator(".index")).to_have_text("88")
    expect(found.locator("mark")).to_have_text(re.compile("adherence", re.IGNORECASE))
    settled(page)
    found.click()
    expect(sentence(page, 88)).to_be_in_viewport()
    expect(sentence(page, 88)).to_have_attribute("aria-current", "true")
    assert parameters(page)["sentence"] == "88"


def test_an_instance_from_far_down_the_list_opens_at_its_top(
    new_page: Callable[..., Page], app_url: str
) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(app_url + "/browse?dataset=sample_data")
    last = page.get_by_role("row").last
    expect(last).to_be_visible()
    settled(page)
    last.click()
    expect(sentence(page, 0)).to_be_in_viewport()


def test_the_ledger_leads_to_the_sentence(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    first = table(page, "Marginal gain").locator(".sentence").first
    index = int(first.inner_text())
    settled(page)
    first.click()
    expect(page.get_by_text(f"Sentence {index}", exact=True)).to_be_visible()
    expect(sentence(page, index)).to_be_in_viewport()


@pytest.mark.flow
def test_an_edited_hypothesis_moves_the_picks_and_goes_into_the_link(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    picks = table(page, "Marginal gain of each pick of bm25").locator("td:first-child")
    expect(picks.first).to_be_visible()
    before = picks.first.inner_text()
    press(page, "Edit hypothesis")
    text = "Body mass index explains diabetes"
    enter_hypothesis(page.get_by_role("textbox", name=re.compile("Hypothesis that")), text)
    expect(heading(page, text)).to_be_visible()
    expect(page.get_by_text("Not scored: the gold was made for the original")).to_be_visible()
    expect(picks).to_have_count(0)  # nobody has said yet that the gold still applies
    page.keyboard.press("Escape")  # the editor lies over it
    gained = table(page, "Picks of bm25, edited hypothesis").locator("tr", has_text="gained").first
    index = int(gained.locator(".sentence").inner_text())
    gained.locator("td").last.click()
    expect(sentence(page, index)).to_have_attribute("aria-current", "true")
    expect(sentence(page, index)).to_be_in_viewport()
    settled(page)
    page.get_by_text("Score it as if the gold still applied", exact=True).click()
    expect(picks.first).not_to_have_text(before)
    assert parameters(page).items() >= {"h": text, "asif": "1"}.items()


@pytest.mark.flow
def test_copy_link_restores_everything_elsewhere(new_page: Callable[..., Page], app_url: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    wanted = READING.replace("bm25~", "bm25;k1=0.9~") + "&h=Night+work&asif=1&aspect=A7&sentence=12&system=1"
    page.goto(app_url + wanted)
    expect(heading(page, "^Night work$")).to_be_visible()
    press(page, "Copy link")
    expect(page.get_by_text("Copied")).to_be_visible()
    other = new_page()
    other.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(heading(other, "^Night work$")).to_be_visible()
    expect(other.get_by_text("Sentence 12", exact=True)).to_be_visible()
    expect(heading(other, "What each pick of abstract-tail adds")).to_be_visible()
    expect(other.get_by_role("button", name="Show all aspects")).to_be_visible()
    expect(other.get_by_text("bm25 k1=0.9").first).to_be_visible()
    assert parameters(other).items() >= parameters(wanted).items()


@pytest.mark.flow
def test_runs_are_started_watched_and_compared(
    page: Page, app_url: str, store: Store, tmp_path: Path
) -> None:
    papers = dict(iter_raw(SAMPLE)) | {"another": next(iter_raw(SAMPLE))[1]}
    (tmp_path / "untouched.json").write_text(json.dumps(papers))
    ingest(store, tmp_path / "untouched.json")
    page.goto(app_url + "/leaderboard?dataset=untouched")
    rows = []
    for retriever in ("bm25", "lead"):
        press(page, "Start or resume a run")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("combobox", name=re.compile("Retriever")).click()
        page.get_by_role("option", name=retriever, exact=True).click()
        dialog.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_text(f"{retriever} on untouched")).to_be_visible()
        rows.append(page.get_by_role("row").filter(has=page.get_by_role("cell", name=retriever, exact=True)))
        expect(rows[-1]).to_be_visible()
    for row in rows:
        settled(page)
        row.click()
        expect(row).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("by paired randomisation")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    settled(page)
    table(page, "Instances by the size of the difference").locator("tr").first.click()
    expect(heading(page, r"What each pick of bm25 \(\w{4}\) adds")).to_be_visible()
    assert re.fullmatch(r"@\w{12}~@\w{12}", parameters(page)["r"])
    go_back(page)
    expect(page.get_by_text("by paired randomisation")).to_be_visible()


def test_a_closed_popover_does_not_bring_old_values_back(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    column = page.get_by_role("columnheader", name=re.compile("^Sentences"))
    expect(column).to_be_visible()
    press(page, "Sort")
    expect(page.get_by_role("combobox", name=re.compile("Sort by"))).to_be_visible()
    page.keyboard.press("Escape")
    for order in ("ascending", "descending"):
        settled(page)
        column.get_by_role("button").click()
        expect(column).to_have_attribute("aria-sort", order)
    assert (parameters(page)["sort"], parameters(page)["desc"]) == ("n_sentences", "1")


def test_back_to_the_original_hypothesis_stays_there(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(heading(page, "What each pick of bm25")).to_be_visible()
    press(page, "Edit hypothesis")
    page.get_by_role("button", name=re.compile("negation")).click()
    expect(heading(page, "does not increase")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Back to the original").click()
    expect(heading(page, "work increases")).to_be_visible()
    press(page, "Retrievers: bm25, abstract-tail")
    press(page, "lead")
    expect(heading(page, "work increases")).to_be_visible()
    expect(page.get_by_role("button", name="Retrievers: bm25, abstract-tail, lead")).to_be_visible()
    assert "h" not in parameters(page)


def test_the_browsers_back_returns_to_the_table(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse")
    table(page, "Instances").locator("tr").first.click()
    expect(page.locator(".reader")).to_be_visible()
    go_back(page)
    expect(heading(page, "Browse instances")).to_be_visible()
    assert parameters(page) == {}


def test_every_one_of_three_fast_clicks_is_a_step(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?instance=sample_cohort&r=bm25")
    expect(page.get_by_text("1 of 6")).to_be_visible()
    settled(page)
    for _ in range(3):
        page.get_by_role("button", name="Next", exact=True).click(delay=20)
    expect(page.get_by_text("4 of 6")).to_be_visible()


def test_the_browsers_back_returns_to_the_instance_before(page: Page, app_url: str) -> None:
    page.goto(app_url + READING)
    expect(page.get_by_text("1 of 6")).to_be_visible()
    press(page, "Next")
    expect(page.get_by_text("2 of 6")).to_be_visible()
    go_back(page)
    expect(page.get_by_text("1 of 6")).to_be_visible()
    assert parameters(page)["instance"] == "sample_cohort"
