"""Analyse in a browser: from a finding to the miss behind it and back; a model's wordings; a click on a bar."""

import re

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.perturb import added_wordings
from evidencebench_core.runs import execute, plan
from tests.browser.settling import press, settled

TASK = "er@10"
pytestmark = pytest.mark.flow


def run_of(store: Store, dataset: str, retriever: str) -> str:
    """Id of a run over a dataset."""
    planned = plan(store, dataset, retriever, tasks=[TASK])
    list(execute(planned))
    return planned.spec.id


def test_a_models_wordings_are_read_and_accepted(
    page: Page, app_url: str, store: Store, own_dataset: str
) -> None:
    page.goto(
        f"{app_url}/analyse?dataset={own_dataset}&part=wording&runs={run_of(store, own_dataset, 'bm25')}"
    )
    page.get_by_text("Wordings by a model").click()
    press(page, "Write drafts with a model")
    dialog = page.get_by_role("dialog")
    model = dialog.get_by_role("combobox", name=re.compile("Model"))  # what the server lists
    model.fill("tiny")
    model.press("Enter")
    expect(dialog.get_by_role("button", name="Start")).to_be_enabled()
    settled(page)
    dialog.get_by_role("button", name="Start").click()
    expect(page.get_by_text("1 of 6, 6 waiting")).to_be_visible()
    settled(page)
    page.get_by_placeholder("Your name or initials").fill("ml")
    page.get_by_placeholder("Your name or initials").press("Enter")
    expect(page.get_by_role("button", name=re.compile("^Accept")).first).to_be_enabled()
    settled(page)
    page.get_by_role("heading").first.click()
    page.keyboard.press("a")
    expect(page.get_by_text("5 waiting")).to_be_visible()
    (wording,) = added_wordings(store, own_dataset)
    assert wording.accepted_by == "ml"


def test_a_click_on_a_mark_counts_once(page: Page, app_url: str, store: Store) -> None:
    page.goto(f"{app_url}/analyse?dataset=sample_data&task=er@10&runs={run_of(store, 'sample_data', 'bm25')}")
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
