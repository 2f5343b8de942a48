"""Analyse in a browser: from a finding to the miss behind it and back; a click on a bar."""

import re

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.runs import run
from tests.browser.settling import press, settled


@pytest.mark.flow
def test_a_click_on_a_mark_counts_once(page: Page, app_url: str, store: Store) -> None:
    bm25 = run(store, "sample_data", "bm25", tasks=["er@10"])
    page.goto(f"{app_url}/analyse?dataset=sample_data&task=er@10&runs={bm25.id}")
    mark = page.locator(".js-plotly-plot .scatterlayer .point").first
    expect(mark).to_be_visible()
    settled(page)
    for form, begins in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        with page.expect_download() as file:
            press(page, form)
        assert file.value.path().read_bytes().startswith(begins)
    mark.click(force=True)
    expect(page).to_have_url(re.compile("where=cause"))
    settled(page)
    page.get_by_role("button", name="Clear filters").click()
    expect(page).not_to_have_url(re.compile("where="))
    settled(page)
    expect(page).not_to_have_url(re.compile("where="))
