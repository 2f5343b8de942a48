"""Published runs, opened from a file: everything works, nothing is asked outside."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.export.site import publish
from evidencebench_core.runs import run
from tests.browser.conftest import DESKTOP
from tests.browser.settling import BACKGROUNDS, PHONE, assert_accessible, assert_fits, sentence


def test_pages_open_from_a_file_and_an_address_names_a_sentence(
    new_page: Callable[..., Page], store: Store, own_dataset: str, tmp_path: Path
) -> None:
    runs = [run(store, own_dataset, name).id for name in ("abstract-tail", "bm25")]
    publish(store, runs, tmp_path / "site", ["er@10"])
    page = new_page()
    heard: list[str] = []  # what it asks for, and what anything in it says
    page.on("request", lambda request: heard.append(request.url))
    page.on("console", lambda message: heard.append(message.text))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    rows = page.locator("#papers tbody tr")
    expect(rows).to_have_count(6)
    page.get_by_label("Search").fill("cohort")
    expect(page.get_by_role("status")).to_contain_text("of 6")
    assert 0 < rows.filter(visible=True).count() < 6

    missed = page.locator("#papers a[href*='#s']").filter(visible=True).first
    index = int((missed.get_attribute("href") or "").rpartition("#s")[2])
    missed.click()
    expect(sentence(page, index)).to_have_class("s type-p selected")
    expect(sentence(page, index)).to_be_in_viewport()
    sentence(page, 3).click()
    expect(page).to_have_url(re.compile("#s3$"))
    marks = page.locator(".s").evaluate_all("rows => rows.map((row) => row.dataset.mark).join()")
    page.get_by_role("button", name="bm25").click()
    assert page.locator(".s").evaluate_all("rows => rows.map((row) => row.dataset.mark).join()") != marks
    expect(sentence(page, 3)).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(page.locator(".s.selected")).to_have_count(0)
    # axe itself asks for styles, in vain
    assert [text for text in heard if not text.startswith("file:")] == []
    fits_and_is_accessible(page)
    page.get_by_role("link", name="All papers").click()
    fits_and_is_accessible(page)


def fits_and_is_accessible(page: Page) -> None:
    for size, scheme in ((PHONE, "dark"), (DESKTOP, "light")):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.locator("body")).to_have_css("background-color", BACKGROUNDS[scheme])
        assert_fits(page)
        assert_accessible(page)
