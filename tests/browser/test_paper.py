"""Your paper in a browser: a real PDF, the findings, the pages, and before an audience."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.settling import settled
from tests.conftest import real_file

STATEMENT = "Staff shortages limit the quality of patient care."


@pytest.mark.realdata
def test_from_a_pdf_to_its_findings_and_to_an_audience(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/paper?r=bm25")
    content = real_file("real_papers/bmc_health_services_2014_14_1.pdf").read_bytes()
    settled(page)
    page.set_input_files(
        "input[type=file]", {"name": "bmc.pdf", "mimeType": "application/pdf", "buffer": content}
    )
    box = page.get_by_role("textbox", name="Statement")
    expect(box).to_be_visible(timeout=60_000)
    settled(page)
    box.fill(STATEMENT)
    box.press("Control+Enter")
    findings = page.locator(".findings .pick")
    expect(findings.first).to_be_visible(timeout=120_000)
    settled(page)
    page.locator(".reader .s").nth(2).click()  # the reader has the focus, and misses nothing
    expect(page.locator(".reader .s").nth(2)).to_have_attribute("aria-current", "true")
    settled(page)
    page.keyboard.press("n")
    expect(page.locator('.findings .pick[aria-pressed="true"]')).to_have_count(1)
    settled(page)
    page.get_by_text("Page", exact=True).click()
    expect(page.locator(".sheet .box.picked").first).to_be_visible(timeout=60_000)
    settled(page)
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_role("button", name="Leave")).to_be_visible()
    settled(page)
    assert findings.first.evaluate("passage => passage.getBoundingClientRect().y") < 400
