"""Your paper in a real browser: a file goes up, evidence is marked, the page is kept, shown and taken away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store, iter_raw
from evidencebench_core.papers import Paper, read_paper
from evidencebench_core.papers.own import OwnPapers
from tests.browser.serving import ROOT
from tests.browser.settling import enter_hypothesis, go_back, parameters, press, settled
from tests.llm.server import reply, scripted
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.real_articles import article_of
from tests.papers.pdf.typesetting import typeset

PASTED = """A title of salt

Abstract
Salt raises blood pressure in rats. Sleep does not.

Methods
We fed rats. They slept.
"""


FILES = "input[type=file] >> nth=0"  # the second takes a folder


def picks(page: Page, number: int) -> list[str]:
    """Indices of the sentences in the list, in its order, once there are so many."""
    expect(page.locator(".picks .pick")).to_have_count(number)
    return [str(item.get_attribute("data-sentence")) for item in page.locator(".picks .pick").all()]


@pytest.mark.flow
def test_from_a_file_and_a_hypothesis_to_a_link(new_page: Callable[..., Page], app_url: str) -> None:
    _, raw = next(iter_raw(ROOT / "sample_data" / "sample_data.json"))
    pdf = typeset(article_of(raw), LAYOUTS[1])  # two columns
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{app_url}/paper?r=bm25&k=3")
    box = page.get_by_role("textbox", name="What should the paper be searched for?")
    enter_hypothesis(box, "Blood pressure was lower.")
    file = {"name": "two columns.pdf", "mimeType": "application/pdf", "buffer": pdf}
    page.set_input_files(FILES, file)
    expect(page.get_by_text("3 sentences picked by bm25")).to_be_visible()
    expect(page.get_by_text("read from PDF in")).to_be_visible()
    begins = page.locator(".reader").bounding_box()
    assert begins is not None
    assert begins["y"] < 400  # the paper's text is on the first screen
    found = picks(page, 3)
    expect(page.locator('.reader [data-mark="picked"]')).to_have_count(3)
    page.locator(".picks .pick").nth(2).click()
    expect(page.locator(f'.reader .selected[data-i="{found[2]}"]')).to_be_in_viewport()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    page.reload()  # it is still in the server's memory
    expect(page.get_by_text("3 sentences picked by bm25")).to_be_visible()
    press(page, "Keep this paper")
    page.get_by_role("button", name="Keep", exact=True).click()
    press(page, "Copy link")
    expect(page.get_by_text("Copied")).to_be_visible()
    other = new_page()
    other.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(other.get_by_text("3 sentences picked by bm25")).to_be_visible()
    assert picks(other, 3) == found
    assert parameters(other)["sentence"] == found[2]


def test_the_pages_of_a_pdf_and_the_text_follow_each_other(page: Page, app_url: str, store: Store) -> None:
    """At every sentence its words are printed: a box is where its rank points, and the list, text and page agree."""
    _, raw = next(iter_raw(ROOT / "sample_data" / "sample_data.json"))
    pdf = typeset(article_of(raw), LAYOUTS[1])
    kept = OwnPapers(store).save(read_paper(pdf, "two.pdf"), "Two columns", "Blood pressure was lower.", pdf)
    page.goto(f"{app_url}/paper?paper={kept.id}&r=bm25&k=6&view=page")
    found = picks(page, 6)
    pages = {item: kept_paper(store, kept.id).pages[int(item)] for item in found}
    number = page.get_by_role("spinbutton", name="Page", exact=True)
    expect(number).to_have_value(str(pages[found[0]]))
    for place, item in enumerate(found, start=1):
        settled(page)
        page.locator(f'.picks .pick[data-sentence="{item}"]').click()
        expect(number).to_have_value(str(pages[item]))
        rank = page.get_by_role("button", name=f"Pick {place}:")
        expect(rank).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".box.selected").first).to_be_in_viewport()
        assert parameters(page)["sentence"] == item
    settled(page)
    rank.press("k")  # from pick to pick in the order of the paper
    before = sorted(map(int, found))[sorted(map(int, found)).index(int(found[-1])) - 1]
    expect(page.locator(f'.pick[data-sentence="{before}"][aria-pressed=true]')).to_be_visible()
    settled(page)
    width = page.locator(".sheet").bounding_box()["width"]  # type: ignore[index]
    page.get_by_role("combobox", name="Zoom").select_option("200%")
    expect(page.locator(".sheet")).to_have_attribute("style", re.compile(r"width: 1\d{3}"))
    assert page.locator(".sheet").bounding_box()["width"] > width  # type: ignore[index]
    settled(page)
    press(page, "Next page" if pages[str(before)] == 1 else "Previous page")
    turned = 2 if pages[str(before)] == 1 else pages[str(before)] - 1
    expect(number).to_have_value(str(turned))
    settled(page)
    page.get_by_role("radio", name="Text").click()
    selected = page.locator(".reader .selected")
    expect(selected).to_be_in_viewport()
    first = int(str(selected.get_attribute("data-i")))
    assert any(box.page == turned for box in kept_paper(store, kept.id).boxes[first])
    settled(page)
    page.reload()
    expect(selected).to_be_in_viewport()


def kept_paper(store: Store, number: int) -> Paper:
    return OwnPapers(store).paper(number)


def test_one_question_over_several_files(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/paper?r=bm25&k=2")
    box = page.get_by_role("textbox", name="What should the paper be searched for?")
    enter_hypothesis(box, "Salt raises blood pressure.")
    texts = {"a.txt": PASTED, "cats.txt": "Cats\n\nCats sleep all day.", "broken.pdf": "%PDF-1.4"}
    page.set_input_files(
        FILES,
        [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in texts.items()],
    )
    headings = page.locator("tr.heading")
    expect(headings).to_have_text(["1. A title of salt", "2. Cats"])
    settled(page)
    page.get_by_text("Left out, and why: 1").click()
    expect(page.get_by_text("cannot be read as PDF")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Page (HTML)").click()
    assert "Evidence in 2 papers" in download.value.path().read_text(encoding="utf-8")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.path().read_text(encoding="utf-8").count("A title of salt") >= 2
    settled(page)
    page.get_by_role("row", name="Salt raises blood pressure in rats.").press("Enter")
    expect(page.locator(".reader .selected")).to_contain_text("Salt raises blood pressure in rats.")
    expect(page.locator(".picks .pick")).to_have_count(2)
    go_back(page)
    expect(headings).to_have_count(2)
    settled(page)
    page.reload()
    expect(headings).to_have_count(2)


@pytest.mark.parametrize("width", [1440, 390])
def test_presenter_mode_shows_prints_and_saves(
    new_page: Callable[..., Page], app_url: str, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 850})
    page.goto(f"{app_url}/paper?paper=sample_trial&r=bm25&k=4")
    expect(page.locator(".picks .pick")).to_have_count(4)
    press(page, "Presenter mode")
    expect(page.get_by_role("heading", name="The 4 sentences to read first")).to_be_visible()
    expect(page.get_by_role("link", name="Leaderboard")).not_to_be_in_viewport()
    expect(page.get_by_text("4 sentences marked")).to_be_visible()
    size = "getComputedStyle(document.documentElement).fontSize"
    assert page.evaluate(size) == ("20px" if width == 1440 else "18px")
    settled(page)
    statement = "The kitchen has a salt container."
    page.get_by_role("textbox", name="What would you like to check").fill(statement)
    page.keyboard.press("Tab")
    press(page, "Show the sentences")
    expect(page.locator(".picks .pick").first).to_contain_text("container")
    said = "It shares the words kitchen, salt and container with the statement"
    expect(page.locator(".picks .why").first).to_contain_text(said)
    press(page, "Print")
    printed = page.frame_locator("iframe[title='The page to print']")
    expect(printed.get_by_role("heading", name=statement)).to_be_attached()
    page.get_by_text("Copy link to this page").scroll_into_view_if_needed()  # the end of the page
    for name in ("Save", "Print", "Leave presenter mode"):  # stay in reach
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save", exact=True).click()
    html = download.value.path().read_text(encoding="utf-8")
    assert statement in html
    assert said in html
    assert "<script" not in html
    page.get_by_role("textbox", name="What would you like to check").focus()
    page.keyboard.press("Escape")  # is the field's, there
    settled(page)
    assert parameters(page)["present"] == "1"
    leave = page.get_by_role("button", name="Leave presenter mode")
    if width == 1440:
        page.get_by_role("heading", level=1).click()
        page.keyboard.press("Escape")
    else:
        leave.click()
    expect(page.get_by_role("button", name="Presenter mode", exact=True)).to_be_visible()
    settled(page)
    assert page.evaluate(size) == "16px"
    assert parameters(page)["h"] == statement


@pytest.mark.parametrize("delay", [10, 60, 150])
def test_what_is_typed_just_before_the_click_is_kept(page: Page, app_url: str, delay: int) -> None:
    """The click is sent before the browser has the address that the typed text gave."""
    page.goto(f"{app_url}/paper?paper=sample_trial&r=bm25&k=4&present=1")
    expect(page.get_by_role("heading", name="The 4 sentences to read first")).to_be_visible()
    settled(page)
    page.get_by_role("textbox", name="What would you like to check").fill("The kitchen has a salt container.")
    page.get_by_role("button", name="Show the sentences").evaluate(
        "(button, delay) => { document.activeElement.blur(); setTimeout(() => button.click(), delay) }", delay
    )
    expect(page.locator(".picks .why").first).to_contain_text("shares the words kitchen, salt and container")
    settled(page)
    expect(page.locator(".picks .why").first).to_contain_text("shares the words kitchen, salt and container")


def test_pasted_text_is_searched_by_two_and_taken_away(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/paper?r=bm25~lead&k=2")
    press(page, "Paste text", "tab")
    page.get_by_role("textbox", name="Text of the paper").fill(PASTED)
    page.get_by_role("button", name="Read the text").click()
    expect(page.get_by_role("heading", name="A title of salt").first).to_be_visible()
    enter_hypothesis(page.get_by_role("textbox", name="Hypothesis"), "Salt raises blood pressure.")
    expect(page.get_by_role("heading", name="How far they agree")).to_be_visible()
    files = {}
    for name in ("Report (HTML)", "CSV", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        files[name] = download.value.path().read_text(encoding="utf-8")
    assert "2 sentences picked, in this order" in files["Report (HTML)"]
    assert files["CSV"].count("\n") == 1 + 2 + 2
    answers = json.loads(files["JSON"])["answers"]
    assert [answer["retriever"] for answer in answers] == ["bm25", "lead"]
    assert [pick["sentence"] for pick in answers[1]["picks"]] == [0, 1]


def test_verdicts_are_shown_to_an_audience_and_in_the_report(
    new_page: Callable[..., Page], app_url: str, tmp_path: Path
) -> None:
    """By sign and word, and as a model's opinion; nothing is asked again."""
    with scripted(reply("LABEL: contradicts")) as server:
        page = new_page()
        page.goto(f"{app_url}/paper?paper=sample_trial&r=lead&k=2&server={server.url}&model=tiny")
        page.get_by_role("button", name="Use this server").first.click()
        press(page, "Judge each sentence")
        expect(page.get_by_text("▼ contradicts the hypothesis")).to_have_count(2)
        press(page, "Presenter mode")
        expect(page.get_by_text("▼ says the opposite")).to_have_count(2)
        expect(page.get_by_text("the language model tiny thinks")).to_be_visible()
        with page.expect_download() as saved:
            press(page, "Save")
        report = new_page()
        saved.value.save_as(tmp_path / "report.html")
        report.goto((tmp_path / "report.html").as_uri())
        expect(report.get_by_text("▼ says the opposite (a model's opinion: tiny)")).to_have_count(2)
        assert len(server.requests) == 2
