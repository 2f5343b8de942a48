"""Papers that a browser printed: tagged, with fonts embedded in part, hyphens of its own."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import sync_playwright

from evidencebench_core.papers.pdf import paper_of_pdf
from tests.browser.serving import CHROMIUM_FLAGS, chromium
from tests.papers.pdf.gold import gold_of
from tests.papers.pdf.measures import boundaries
from tests.papers.pdf.printing import STYLES, web_page

pytestmark = pytest.mark.browser


def test_web_pages_printed_by_chromium() -> None:
    path = chromium()
    if path is None:
        message = "no Chromium: install one (apt install chromium) or name it: CHROMIUM=/path/to/chromium"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    gold = gold_of("pdf_two_columns")
    printed = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        page = browser.new_page()
        for style in STYLES:
            page.set_content(web_page(gold.article, style))
            printed[style] = page.pdf(prefer_css_page_size=True)
        browser.close()
    for style, content in printed.items():
        paper = paper_of_pdf(content)
        read, written = boundaries(paper.sentences), boundaries(gold.sentences)
        assert read == written, style
        assert paper.title == gold.article.title
        assert dict(paper.left_out) == {"tables": 1, "figures": 1, "references": 25}
