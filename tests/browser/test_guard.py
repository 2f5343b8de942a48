"""The guard and the first paint, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from tests.browser.serving import served_app
from tests.browser.settling import settled
from tests.browser.test_every_page import GROUNDS, PHONE, assert_accessible
from tests.serving import serving

PHRASE = "correct hörse battery"
READING = "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&r=bm25~abstract-tail"


@pytest.fixture(scope="module")
def closed_url(chromium_path: str, store: Store) -> Iterator[str]:
    """The app on the same store, behind a pass phrase."""
    with served_app(store.path.parent, EVIDENCEBENCH_PASS_PHRASE=PHRASE) as address:
        yield address


def test_a_frame_of_another_origin_stays_empty(page: Page, app_url: str) -> None:
    frame = f'<iframe src="{app_url}/browse" width="900" height="600"></iframe>'
    with serving(lambda _: (200, {"Content-Type": "text/html"}, frame.encode())) as other_site:
        page.goto(other_site, wait_until="load")
        (inside,) = page.frames[1:]
        assert inside.url.startswith("chrome-error:")


def test_the_phrase_is_asked_once_and_leads_to_the_page_of_the_link(page: Page, closed_url: str) -> None:
    page.goto(closed_url + READING)
    for phrase in ("wrong", PHRASE):
        box = page.get_by_label("Pass phrase")
        expect(box).to_be_focused()
        expect(page.get_by_text("night-shift")).to_have_count(0)
        box.fill(phrase)
        page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="rotating night-shift work")).to_be_visible()
    assert page.url == closed_url + READING
    page.reload()
    expect(page.get_by_role("heading", name="rotating night-shift work")).to_be_visible()


@pytest.mark.parametrize("scheme", GROUNDS)
def test_the_question_for_the_phrase_is_accessible(
    new_page: Callable[..., Page], closed_url: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme, viewport=PHONE)
    page.goto(closed_url)
    assert_accessible(page)
    page.get_by_label("Pass phrase").fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_have_text("That is not the pass phrase.")
    assert_accessible(page)


@pytest.mark.parametrize("scheme", GROUNDS)
def test_something_is_seen_before_any_script_or_style_has_come(
    new_page: Callable[..., Page], app_url: str, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    page.route("**/static/**", lambda _: None)  # which stay away
    page.goto(app_url + READING, wait_until="commit")
    expect(page.get_by_text("Opening EvidenceBench Explorer")).to_be_visible()
    expect(page.locator("html")).to_have_css("background-color", GROUNDS[scheme])
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    expect(page).to_have_title("EvidenceBench Explorer")
    assert_accessible(page)
    page.unroute_all(behavior="ignoreErrors")


def test_a_fresh_load_asks_for_nothing_that_is_not_there(page: Page, app_url: str) -> None:
    answers: list[tuple[int, str]] = []
    page.on("response", lambda response: answers.append((response.status, response.url)))
    page.goto(app_url + READING)
    expect(page.get_by_role("heading", name="rotating night-shift work")).to_be_visible()
    settled(page)
    assert [answer for answer in answers if answer[0] >= 400] == []
    expect(page.locator("#opening")).to_have_count(0)
