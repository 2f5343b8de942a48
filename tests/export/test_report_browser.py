"""The report in a real browser: nothing runs, nothing is asked for, and paper gets all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from pypdfium2 import PdfDocument

from evidencebench_core.export import report_html
from tests.browser.serving import CHROMIUM_FLAGS, chromium
from tests.export.reports import HOSTILE, NO_GOLD, report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium: apt install chromium")
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield chrome
        chrome.close()


def test_a_hostile_report_runs_nothing_and_asks_for_nothing(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_html(report(HOSTILE)), encoding="utf-8")
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert said == []
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    page.close()


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("plain", [False, True])
def test_it_fits_any_width_and_a_link_opens_the_paper(
    browser: Browser, tmp_path: Path, width: int, plain: bool
) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_html(report("abc" * 60), plain), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert not page.locator("#s5").is_visible()
    page.locator("a.number").first.click()
    assert page.locator("#s5").is_visible()
    page.close()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_in_print_the_folds_are_open_and_no_sentence_is_cut(
    browser: Browser, tmp_path: Path, paper: str
) -> None:
    sentences = tuple(
        f"Sentence number {n} ends here{' and goes on' * (n % 40)}, #{n}end." for n in range(150)
    )
    types, sections = ("normal_paragraph",) * 150, ("",) * 150
    instance = {"sentences": sentences, "sentence_types": types, "sections": sections, "evidence": NO_GOLD}
    long = report(paper=instance)
    file = tmp_path / "report.html"
    file.write_text(report_html(long), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    printed = PdfDocument(page.pdf(format=paper))
    page.close()
    pages = [" ".join(one.get_textpage().get_text_range().split()) for one in printed]
    for number in range(150):
        begins = [place for place, text in enumerate(pages) if f"Sentence number {number} ends here" in text]
        ends = [place for place, text in enumerate(pages) if f"#{number}end." in text]
        assert begins == ends != [], number
    assert "evidencebench find" in " ".join(pages)
    for place, text in enumerate(pages, start=1):
        assert f"{place} / {len(pages)}" in text
        assert "They are no medical advice." in text
