"""The reader as a user sees and drives it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from evidencebench_core.words import visible
from tests.browser.reader_views import HOSTILE
from tests.browser.settling import PHONE, sentence, settled

Open = Callable[..., Locator]


@pytest.fixture
def opened(page: Page, reader_url: str) -> Open:
    """Opens the reader on one of the harness's papers."""

    def opened(view: str = "short", on: Page | None = None) -> Locator:
        (on or page).goto(f"{reader_url}/?view={view}")
        reader = (on or page).locator(".reader")
        expect(reader.locator(".s").first).to_be_visible(timeout=60_000)
        expect((on or page).get_by_text("events=0")).to_be_visible()
        settled(on or page)
        return reader

    return opened


def focused(reader: Locator, *steps: tuple[str, int]) -> None:
    """Press keys one after the other; each moves the focus to a sentence."""
    for key, index in steps:
        reader.page.keyboard.press(key)
        expect(reader.locator(".s:focus")).to_have_attribute("data-i", str(index))


@pytest.mark.flow
def test_draws_every_sentence_with_its_mark(opened: Open) -> None:
    reader = opened()
    marks = reader.locator(".s").evaluate_all("rows => rows.map((row) => row.dataset.mark)")
    # by hand, see short_view
    assert marks == [
        *("none", "none", "none", "both", "both", "none"),
        *("picked", "missed", "gold", "gold", "missed", "none"),
    ]
    for name in ("picked 2", "already covered 2", "missed 2", "Picked, not gold 1"):
        expect(reader.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(reader.locator(".total")).to_have_text("Gold6")
    label = "sentence 4, gold, picked 3rd, covers A2"
    expect(sentence(reader, 4).get_by_role("img", name=label)).to_be_visible()
    expect(sentence(reader, 6).locator(".sign")).to_have_text("2")
    expect(sentence(reader, 7).locator(".other")).to_have_attribute("title", "dense: picked 1st")
    expect(reader.get_by_role("heading", name="Methods")).to_be_visible()
    ticks = reader.locator(".tick").evaluate_all("ticks => ticks.map((tick) => tick.classList[1])")
    assert ticks == ["section", "both", "both", "section", "picked", "missed", "gold", "gold", "missed"]


@pytest.mark.flow
def test_hostile_text_is_only_text_on_a_dark_phone_too(new_page: Callable[..., Page], opened: Open) -> None:
    page = new_page(viewport=PHONE, color_scheme="dark")
    reader = opened("hostile", page)
    expect(reader).to_have_class(re.compile("dark"))
    texts = "all => all.map((one) => one.textContent)"
    assert reader.locator(".s .t > span:first-child").evaluate_all(texts) == list(map(visible, HOSTILE))
    assert reader.locator(".t .word").evaluate_all(texts) == ["script", "script", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "letters"]
    assert page.evaluate("window.hacked") is None
    assert reader.locator("script, img, h1, a").count() == 0
    expect(reader.locator(".strip .chip").first).to_contain_text("<i>A1")
    direction = "text => getComputedStyle(text).direction"
    directions = [sentence(reader, index).locator(".t").evaluate(direction) for index in (3, 4, 5)]
    assert directions == ["ltr", "rtl", "rtl"]
    assert reader.locator(".page").evaluate("page => page.scrollWidth - page.clientWidth") == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.flow
def test_a_click_is_shown_at_once_and_comes_back_to_python(page: Page, opened: Open) -> None:
    reader = opened()
    box = sentence(reader, 7).locator(".t").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 10)  # text can be copied without a click being heard
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 10, steps=5)
    page.mouse.up()
    expect(reader.locator(".selected")).to_have_count(0)
    sentence(reader, 7).locator(".t").click()
    expect(sentence(reader, 7)).to_have_class(re.compile("selected"))
    expect(page.get_by_text("sentence=7 aspect=None system=0 events=1")).to_be_visible()
    sentence(reader, 7).press("Enter")
    expect(page.get_by_text("sentence=None aspect=None system=0 events=2")).to_be_visible()
    expect(reader.locator(".selected")).to_have_count(0)
    for index in (3, 8, 6, 10):  # quick clicks end on the last
        sentence(reader, index).locator(".no").click()
    expect(page.get_by_text("sentence=10 aspect=None")).to_be_visible()
    expect(reader.locator(".selected")).to_have_attribute("data-i", "10")


def test_an_aspect_lights_its_sentences_and_stays_when_pinned(page: Page, opened: Open) -> None:
    reader = opened()
    chip = reader.locator('.strip .chip[data-a="1"]')
    chip.hover()
    lit = reader.locator(".s.on")
    expect(lit).to_have_count(2)
    assert lit.evaluate_all("rows => rows.map((row) => row.dataset.i)") == ["4", "9"]
    expect(reader.locator(".list .veil")).to_have_css("opacity", "0.6")  # over all but the lit ones
    expect(reader.locator(".foot")).to_contain_text("A2 · aspect · 2 sentences · covered by the picks")
    reader.locator(".foot").hover()
    expect(lit).to_have_count(0)
    expect(reader.locator(".list .veil")).to_have_css("opacity", "0")
    sentence(reader, 9).locator(".chip").click()
    expect(page.get_by_text("sentence=None aspect=1")).to_be_visible()
    page.mouse.move(0, 0)
    expect(lit).to_have_count(2)
    expect(chip).to_have_attribute("aria-pressed", "true")
    focused(reader, ("j", 4), ("j", 9), ("j", 4), ("k", 9))  # the keys stay with it, and select
    chip.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("sentence=9 aspect=None")).to_be_visible()


def test_keys_walk_the_evidence_and_are_listed(page: Page, opened: Open) -> None:
    reader = opened()
    focused(reader, ("j", 3), ("j", 4), ("j", 6), ("k", 4), ("n", 7), ("n", 10), ("n", 7), ("N", 10))
    focused(reader, ("ArrowDown", 11))
    page.keyboard.press("Enter")
    expect(page.get_by_text("sentence=11")).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("next, previous missed sentence")
    page.keyboard.press("j")  # it lies over the page
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    expect(sentence(reader, 11)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_text("sentence=None aspect=None")).to_be_visible()
    for index in (7, 10, 7):  # the legend leads to the next of its kind
        reader.get_by_role("button", name="missed 2").click()
        expect(reader.locator(".s:focus")).to_have_attribute("data-i", str(index))


def test_the_component_with_the_focus_has_the_keys_else_the_main_one(page: Page, opened: Open) -> None:
    reader = opened("short&answer=1")
    here = page.locator(".prose .here")
    for key, words in (("j", "Sentence b"), ("n", "Sentence c"), ("k", "Sentence b")):
        page.keyboard.press(key)
        expect(here).to_contain_text(words)
        settled(page)
    sentence(reader, 4).click()
    settled(page)
    focused(reader, ("j", 6), ("k", 4))
    expect(here).to_contain_text("Sentence b")
    page.get_by_text("sentence=4").click()
    page.keyboard.press("k")
    expect(here).to_contain_text("Sentence a")


def test_keys_stay_off_once_they_are_turned_off(page: Page, opened: Open) -> None:
    keys = page.get_by_role("dialog", name="Keys")
    switch = keys.get_by_role("checkbox", name="Single keys")
    reader = opened()
    page.keyboard.press("?")
    switch.uncheck()
    keys.get_by_role("button", name="Close").click()
    for _ in range(2):
        expect(keys).to_have_count(0)  # while it lies over the page, keys are its own
        page.keyboard.press("j")
        page.keyboard.press("Control+/")
        expect(switch).not_to_be_checked()
        page.keyboard.press("Escape")
        expect(reader.locator(".s:focus")).to_have_count(0)
        reader = opened()
    page.get_by_role("button", name="Keys").click()
    switch.check()
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    focused(reader, ("j", 3))


def test_the_minimap_follows_the_pointer(page: Page, opened: Open) -> None:
    reader = opened("stress")
    strip = reader.locator(".map").bounding_box()
    assert strip is not None
    x, top = strip["x"] + strip["width"] / 2, strip["y"]
    page.mouse.move(x, top + 0.5 * strip["height"])
    expect(sentence(reader, 0)).to_be_in_viewport()  # pointing alone moves nothing
    page.mouse.down()
    page.mouse.move(x, top + 0.9 * strip["height"], steps=5)
    page.mouse.up()
    expect(sentence(reader, 0)).not_to_be_in_viewport()
    scrolled = "page => (page.scrollTop + page.clientHeight / 2) / page.scrollHeight"
    assert reader.locator(".page").evaluate(scrolled) == pytest.approx(0.9, abs=0.02)
    in_view = "view => (view.offsetTop + view.offsetHeight / 2) / view.parentElement.offsetHeight"
    assert reader.locator(".map-view").evaluate(in_view) == pytest.approx(0.9, abs=0.03)
