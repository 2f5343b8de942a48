"""Papers that a browser printed: tagged, with fonts embedded in part, hyphens of its own."""

import os
import re
from html import escape
from typing import Final

import pytest
from playwright.sync_api import sync_playwright

from evidencebench_core.papers.pdf import paper_of_pdf
from tests.browser.serving import CHROMIUM_FLAGS, chromium
from tests.papers.pdf.gold import boundaries, gold_of
from tests.papers.pdf.typesetting import Article

pytestmark = [pytest.mark.slow, pytest.mark.browser]

STYLES: Final = {
    "one column": "body{font:11pt/1.4 'DejaVu Serif',serif} h2{font-size:13pt}",
    "two columns, hyphenated": (
        "body{font:8.5pt/1.3 'DejaVu Serif',serif} .text{columns:2;column-gap:7mm;text-align:justify;hyphens:auto}"
        ".abstract{font-size:8pt} h2{font:bold 9pt sans-serif;text-transform:uppercase} p{margin:0;text-indent:1em}"
    ),
    "two columns, sans, numbered": (
        "body{font:8pt/1.35 'DejaVu Sans',sans-serif} .text{columns:2;column-gap:5mm} h2{font-size:9pt;color:#036}"
        "p{margin:0 0 .6em} h2::before{counter-increment:h;content:counter(h) '. '} body{counter-reset:h}"
    ),
}

_TABLE = (
    "<table><caption>Table 1. Factors of the cases and the controls, in per cent.</caption><tr><th>Factor</th>"
    "<th>Cases</th><th>Controls</th></tr>"
    + "".join(
        f"<tr><td>Factor {c}</td><td>{n}.4</td><td>{n + 3}.1</td></tr>" for n, c in enumerate("ABCDEF", 20)
    )
    + "</table>"
)
_FIGURE = (
    "<figure><svg width='200' height='90'><rect width='198' height='88' fill='none' stroke='#000'/>"
    "<text x='10' y='20' font-size='8'>Risk</text><text x='150' y='80' font-size='8'>Dose (mg)</text></svg>"
    "<figcaption>Figure 1. Risk by dose. Bars are intervals.</figcaption></figure>"
)
_PAGE = (
    "@page{size:A4;margin:18mm 16mm} h1{font-size:17pt} figure,figcaption,caption{margin:4px 0;font-size:.85em}"
    "table{border-collapse:collapse;font-size:.85em;break-inside:avoid} figure{break-inside:avoid} ol{font-size:.85em}"
    "td,th{border-top:1px solid;border-bottom:1px solid;padding:1px 8px}"
    "h2.plain::before{content:'' !important;counter-increment:none !important}"
)


def web_page(article: Article, style: str) -> str:
    """The article as one HTML page."""
    parts = [
        f"<h1>{escape(article.title)}</h1><p class=authors>Ann B. Author<sup>1</sup> and Carl D. Writer</p>",
        "<div class=abstract><h2 class=plain>Abstract</h2>",
        *(f"<p>{_inline(' '.join(part.paragraphs))}</p>" for part in article.abstract),
        "</div><div class=text>",
    ]
    for number, section in enumerate(article.sections):
        parts.append(f"<h2>{escape(section.heading)}</h2>")
        parts += [f"<p>{_inline(paragraph)}</p>" for paragraph in section.paragraphs]
        if number == len(article.sections) // 2:
            parts += [_TABLE, _FIGURE]
    entries = "".join(
        f"<li>Author A{n}. A study of something, part {n}. J Things {1980 + n}; {n}:1-9.</li>"
        for n in range(1, article.references + 1)
    )
    parts.append(f"<h2 class=plain>References</h2><ol>{entries}</ol></div>")
    head = f"<meta charset=utf-8><title>{escape(article.title)}</title><style>{_PAGE}{STYLES[style]}</style>"
    return f"<!doctype html><html lang=en>{head}{''.join(parts)}"


def _inline(text: str) -> str:
    raised = re.sub(r"\[\^([^\]]+)\]", r"<sup>\1</sup>", escape(text))
    return re.sub(r"^\*\*(.+?)\*\*", r"<b>\1</b>", raised)


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
        assert boundaries(paper.sentences) == boundaries(gold.sentences), style
        assert paper.title == gold.article.title
        assert dict(paper.left_out) == {"tables": 1, "figures": 1, "references": 25}
