"""Missed aspects in a real browser: the queue's first row is on the first screen, with its hypothesis."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.analyses.sample import ingest_sample
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from evidencebench_core.runs.notes import Note, NoteStore
from tests.browser.conftest import DESKTOP
from tests.browser.serving import SAMPLE
from tests.browser.settling import PHONE, settled


@pytest.mark.parametrize(("viewport", "filters"), [(DESKTOP, ""), (DESKTOP, "&decile=0–10%"), (PHONE, "")])
def test_the_first_miss_is_on_the_first_screen(
    new_page: Callable[..., Page], app_url: str, store: Store, viewport: dict[str, int], filters: str
) -> None:
    ingest_sample(store, SAMPLE)
    page = new_page(viewport=viewport)
    page.goto(f"{app_url}/missed?dataset=sample_data{filters}")
    row = page.locator(".table-root tbody tr").first
    expect(row).to_be_visible()
    settled(page)
    hypothesis = row.locator("td.title")
    whole = str(hypothesis.get_attribute("title"))
    assert whole in [store.get("sample_data", one).hypothesis for one in store.ids("sample_data")]
    expect(hypothesis).to_have_text(whole)  # cut for the eye only
    box, around = hypothesis.bounding_box(), row.bounding_box()
    assert box is not None
    assert around is not None
    assert box["height"] < 80
    assert box["y"] + box["height"] < viewport["height"] * 0.72
    if viewport is DESKTOP:
        assert around["y"] + around["height"] < 480
        expect(page.get_by_role("heading", name="Where the misses are")).to_be_in_viewport()
    row.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(whole)


def test_charts_are_drawn_once_they_are_scrolled_to_and_filter(
    new_page: Callable[..., Page], app_url: str, store: Store
) -> None:
    ingest_sample(store, SAMPLE)
    page = new_page(viewport=DESKTOP)
    page.goto(f"{app_url}/missed?dataset=sample_data&task=er@10")
    expect(page.locator(".table-root tbody tr").first).to_be_visible()
    settled(page)
    charts = page.locator(".js-plotly-plot")
    expect(charts).to_have_count(0)
    page.locator(".st-key-seen-shares").scroll_into_view_if_needed()
    expect(charts).to_have_count(4)
    settled(page)
    charts.nth(1).locator(".scatterlayer .point").first.click(force=True)
    expect(page).to_have_url(re.compile("decile="))
    expect(page.get_by_role("button", name="Clear filters")).to_be_attached()
    settled(page)
    page.reload()  # a new session
    expect(page.get_by_role("button", name="Clear filters")).to_be_visible()
    settled(page)
    expect(charts).to_have_count(0)


def test_the_queue_with_notes_is_as_wide_as_the_page(
    new_page: Callable[..., Page], app_url: str, store: Store
) -> None:
    ingest_sample(store, SAMPLE)
    run = next(run for run in RunStore(store).runs("sample_data") if run.retriever == "bm25")
    for one in store.get_many("sample_data", store.ids("sample_data")):
        for aspect in one.evidence.aspects:
            place = {"run_id": run.id, "task": "result-er@optimal", "instance_id": one.id}
            note = Note(
                **place, aspect_id=aspect.id, author="Ada Lovelace", cause="near", tags=("a-long-tag",)
            )
            NoteStore(store).add(note)
    for viewport in (DESKTOP, PHONE):
        page = new_page(viewport=viewport)
        page.goto(f"{app_url}/missed?run={run.id}")
        expect(page.get_by_text("Ada Lovelace: Near miss, a-long-tag").first).to_be_attached()
        settled(page)
        wider = "table => table.scrollWidth - table.clientWidth"
        assert page.locator(".table-root .scroll").evaluate(wider) == 0
