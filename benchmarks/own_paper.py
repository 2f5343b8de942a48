"""From an upload to highlighted evidence, in a real browser.

    python -m benchmarks.own_paper TRAIN_SET [RETRIEVER]

Sets two papers of the train set as PDFs of 12 pages (reportlab), starts the app on an empty store and an
empty cache, and uploads them one after the other: the first while the model may still be loading, the
second with the model warm and a paper that it has not seen, the third time the first paper again with
another hypothesis. Prints seconds from the upload until the paper is on the page and until its evidence
is marked, and the processor seconds of the server and of the processes that read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from playwright.sync_api import sync_playwright
from pypdfium2 import PdfDocument

from benchmarks.timing import ROOT
from evidencebench_core.data import iter_raw
from tests.browser.serving import CHROMIUM_FLAGS, chromium, served
from tests.browser.settling import enter_hypothesis
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.real_articles import article_of
from tests.papers.pdf.typesetting import typeset

PAGES = 12


def papers(train_set: Path) -> Iterator[tuple[str, bytes]]:
    """Hypotheses, and papers of 12 pages."""
    for _, raw in iter_raw(train_set):
        if isinstance(raw, dict):
            pdf = typeset(article_of(raw), LAYOUTS[0])
            if len(PdfDocument(pdf)) == PAGES:
                yield raw["hypothesis"], pdf


def main() -> None:
    train_set, retriever = Path(sys.argv[1]), (sys.argv[2:] or [""])[0]
    found = papers(train_set)
    first, second = next(found), next(found)
    uploads = (
        ("cold", *first),
        ("warm, new paper", *second),
        ("warm, known paper", f"It is not so that {first[0]}", first[1]),
    )
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        places = {"EVIDENCEBENCH_STORE": f"{folder}/store.sqlite", "EVIDENCEBENCH_CACHE": f"{folder}/cache"}
        with served(ROOT / "app.py", **places) as address:
            (server,) = psutil.Process().children()[-1:]
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            for name, hypothesis, pdf in uploads:
                page.goto(f"{address}/paper" + (f"?r={retriever}" if retriever else ""))
                box = page.get_by_role("textbox", name="What should the paper be searched for?")
                enter_hypothesis(box, hypothesis)
                before, began = server.cpu_times(), time.perf_counter()
                page.set_input_files(
                    "input[type=file]", {"name": "a.pdf", "mimeType": "application/pdf", "buffer": pdf}
                )
                page.get_by_text("read from PDF in").wait_for()
                read = time.perf_counter() - began
                page.locator('.reader [data-mark="picked"]').first.wait_for()
                marked, after = time.perf_counter() - began, server.cpu_times()
                own = after.user + after.system - before.user - before.system
                child = (
                    after.children_user
                    + after.children_system
                    - before.children_user
                    - before.children_system
                )
                print(
                    f"{name:18s} read {read:5.2f} s, marked {marked:5.2f} s; "
                    f"processor: server {own:5.2f} s, reading process {child:5.2f} s"
                )
            browser.close()


if __name__ == "__main__":
    main()
