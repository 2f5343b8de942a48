"""Your paper in a real browser: a file goes up, evidence is marked, the page is kept, shown and taken away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import iter_raw
from tests.browser.serving import ROOT, served_app
from tests.browser.settling import ON_A_PHONE, assert_fits, enter_hypothesis, hosts_asked, parameters, settled
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.real_articles import article_of
from tests.papers.pdf.typesetting import typeset

SAMPLE = ROOT / "sample_data" / "sample_data.json"
PAPER = ROOT / "tests" / "papers" / "gold" / "structured.xml"
PASTED = """A title of salt

Abstract
Salt raises blood pressure in rats. Sleep does not.

Methods
We fed rats. They slept.
"""


@pytest.fixture(scope="module")
def app_url(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on an empty store."""
    with served_app(tmp_path_factory.mktemp("paper")) as address:
        yield address


def picks(page: Page, number: int) -> list[str]:
    """Indices of the sentences in the list, in its order, once there are so many."""
    expect(page.locator(".picks .pick")).to_have_count(number)
    return [str(item.get_attribute("data-sentence")) for item in page.locator(".picks .pick").all()]


def test_from_a_file_and_a_hypothesis_to_a_link(new_page: Callable[..., Page], app_url: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{app_url}/paper?r=bm25&k=3")
    enter_hypothesis(
        page.get_by_role("textbox", name="What should the paper be searched for?"),
        "Blood pressure was lower.",
    )
    page.set_input_files("input[type=file]", PAPER)
    expect(page.get_by_text("3 sentences picked by bm25")).to_be_visible()
    expect(page.get_by_text("read from JATS XML in")).to_be_visible()
    found = picks(page, 3)
    settled(page)
    expect(page.locator('.reader [data-mark="picked"]')).to_have_count(3)
    page.locator(".picks .pick").nth(2).click()
    expect(page.locator(f'.reader .selected[data-i="{found[2]}"]')).to_be_in_viewport()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    page.reload()  # it is still in the server's memory
    expect(page.get_by_text("3 sentences picked by bm25")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Keep this paper").click()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = new_page()
    other.goto(link)
    expect(other.get_by_text("3 sentences picked by bm25")).to_be_visible()
    assert picks(other, 3) == found
    assert parameters(other)["sentence"] == found[2]


def test_a_pdf_is_read_and_its_title_corrected(page: Page, app_url: str) -> None:
    _, raw = next(iter_raw(SAMPLE))
    assert isinstance(raw, dict)
    pdf = typeset(article_of(raw), LAYOUTS[1])  # two columns
    page.goto(f"{app_url}/paper?r=bm25")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_visible()
    settled(page)
    page.set_input_files(
        "input[type=file]", {"name": "two columns.pdf", "mimeType": "application/pdf", "buffer": pdf}
    )
    expect(page.get_by_text("read from PDF in")).to_be_visible()
    expect(page.get_by_text("Write a hypothesis above")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Correct", exact=True).click()
    title = page.get_by_role("textbox", name="Title")
    title.fill("Night work and diabetes")
    page.get_by_role("button", name="Set the title").click()
    expect(page.get_by_role("heading", name="Night work and diabetes").first).to_be_visible()
    expect(page.locator('.reader [data-i="0"]')).to_contain_text("Night work and diabetes")


def test_a_file_that_takes_long_can_be_cancelled(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/paper?r=bm25")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_visible()
    settled(page)
    slow = b"Tea " + b"( " * 400_000  # the splitter takes more than linear time for this
    page.set_input_files("input[type=file]", {"name": "slow.txt", "mimeType": "text/plain", "buffer": slow})
    expect(page.get_by_text("Reading slow.txt")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Reading was cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_visible()


def test_presenter_mode_shows_prints_and_saves(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/paper?paper=sample_trial&r=bm25&k=4")
    expect(page.locator(".picks .pick")).to_have_count(4)
    settled(page)
    page.get_by_role("button", name="Presenter mode").click()
    expect(page.get_by_role("heading", name="The 4 sentences to read first")).to_be_visible()
    expect(page.get_by_role("link", name="Leaderboard")).not_to_be_visible()
    expect(page.get_by_text("no medical advice")).to_be_visible()
    expect(page.get_by_text("4 sentences marked")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "20px"
    settled(page)
    box = page.get_by_role("textbox", name="What would you like to check")
    box.fill("The kitchen has a salt container.")
    page.get_by_role("button", name="Show the sentences").click()
    expect(page.locator(".picks .pick").first).to_contain_text("container")
    settled(page)  # what stands below the list comes a moment after it
    page.get_by_role("button", name="Print", exact=True).click()
    printed = page.frame_locator("iframe[title='The page to print']")
    expect(printed.get_by_role("heading", name="The kitchen has a salt container.")).to_be_attached()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a page").click()
    html = download.value.path().read_text(encoding="utf-8")
    assert "The kitchen has a salt container." in html
    assert "<script" not in html
    page.get_by_role("button", name="Leave presenter mode").click()
    expect(page.get_by_role("link", name="Leaderboard")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "16px"
    assert parameters(page)["h"] == "The kitchen has a salt container."


def test_pasted_text_is_searched_by_two_and_taken_away(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/paper?r=bm25~lead&k=2")
    expect(page.get_by_role("tab", name="Paste text")).to_be_visible()
    settled(page)
    page.get_by_role("tab", name="Paste text").click()
    page.get_by_role("textbox", name="Text of the paper").fill(PASTED)
    page.get_by_role("button", name="Read the text").click()
    expect(page.get_by_role("heading", name="A title of salt").first).to_be_visible()
    enter_hypothesis(page.get_by_role("textbox", name="Hypothesis"), "Salt raises blood pressure.")
    expect(page.get_by_role("heading", name="How far they agree")).to_be_visible()
    files = {}
    for name in ("Report (HTML)", "CSV", "JSON", "BibTeX"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        files[name] = download.value.path().read_text(encoding="utf-8")
    assert "2 sentences picked, in this order" in files["Report (HTML)"]
    assert files["CSV"].count("\n") == 1 + 2 + 2
    answers = json.loads(files["JSON"])["answers"]
    assert [answer["retriever"] for answer in answers] == ["bm25", "lead"]
    assert [pick["sentence"] for pick in answers[1]["picks"]] == [0, 1]
    assert "@" in files["BibTeX"]


@pytest.mark.parametrize(
    "query", ["", "?paper=sample_trial&r=bm25~lead", "?paper=sample_trial&r=bm25&present=1"]
)
@ON_A_PHONE
def test_a_phone_never_scrolls_sideways(
    new_page: Callable[..., Page], app_url: str, query: str, phone: dict[str, object]
) -> None:
    page = new_page(**phone)
    hosts = hosts_asked(page)
    page.goto(f"{app_url}/paper{query}")
    if query:
        expect(page.locator(".picks .pick").first).to_be_visible()
    assert_fits(page)
    assert hosts - {""} == {"127.0.0.1"}
