"""A model asked in a real browser: its answer comes in piece by piece, and stays text."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from tests.browser.serving import served_app
from tests.browser.settling import ON_A_PHONE, assert_fits, hosts_asked, press, sentence, settled
from tests.llm.server import Handler, delta, scripted

READING = "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&r=llm;model=tiny"
FIRST = "3: <img src=x onerror=\"document.title='taken'\"> says **how** large it was"
LAST = "\nDECISION: [3]"
HEADING = re.compile("What each pick of llm")


@pytest.fixture(scope="module")
def go_on() -> threading.Event:
    """Set once the model may finish its answer."""
    return threading.Event()


@pytest.fixture(scope="module")
def app_url(chromium_path: str, store: Store, go_on: threading.Event) -> Iterator[str]:
    """The app with a server that answers in two pieces."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for event, wait in ((delta(FIRST), False), (delta(LAST, "stop"), True)):
            if wait:
                go_on.wait(60)
            handler.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            handler.wfile.flush()
        handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True

    with (
        scripted(answer) as server,
        served_app(store.path.parent, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="") as address,
    ):
        yield address


def test_an_answer_streams_in_and_is_only_ever_text(page: Page, app_url: str, go_on: threading.Event) -> None:
    hosts = hosts_asked(page)
    page.goto(app_url + READING)
    expect(sentence(page, 3)).to_be_visible()
    press(page, "Ask the model")
    expect(page.get_by_text("is answering, whole paper")).to_be_visible()
    expect(page.get_by_text("says **how** large it was")).to_be_visible()  # while the rest is to come
    expect(sentence(page, 3)).to_be_visible()  # and the paper stays
    go_on.set()
    expect(page.get_by_role("heading", name=HEADING)).to_be_visible()
    settled(page)
    page.locator('.s[data-i="3"][data-mark="both"]').click()
    expect(page.get_by_text("In its words")).to_be_visible()
    settled(page)
    page.get_by_text("what it was asked and what it said").click()
    expect(page.get_by_text("DECISION: [3]")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "taken"
    assert hosts - {""} == {"127.0.0.1"}


@ON_A_PHONE
def test_a_phone_never_scrolls_sideways(
    new_page: Callable[..., Page], app_url: str, go_on: threading.Event, phone: dict[str, object]
) -> None:
    go_on.set()
    page = new_page(**phone)
    page.goto(app_url + READING.replace("cohort", "trial"))
    ask, heading = page.get_by_role("button", name="Ask the model"), page.get_by_role("heading", name=HEADING)
    expect(ask.or_(heading)).to_be_visible()
    settled(page)
    if ask.is_visible():
        ask.click()
    expect(heading).to_be_visible()
    assert_fits(page)
