"""Analyse in a browser: from a finding to the miss behind it and back; what a place, and what a wording, changes."""

import re

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import Store
from evidencebench_core.perturb import added_wordings
from evidencebench_core.runs import RunStore, execute, plan
from tests.browser.settling import parameters, press, settled

TASK = "er@10"
pytestmark = pytest.mark.flow


def run_of(store: Store, dataset: str, retriever: str) -> str:
    """Id of a run over a dataset."""
    planned = plan(store, dataset, retriever, tasks=[TASK])
    list(execute(planned))
    return planned.spec.id


def finding(page: Page) -> str:
    """The heading above the first chart, which is drawn in the first 600 pixels."""
    chart = page.locator(".js-plotly-plot .bars, .js-plotly-plot .scatterlayer").first
    expect(chart).to_be_visible()
    settled(page)
    box = chart.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 600
    return page.locator("h2").first.inner_text()


def test_from_the_misses_to_the_paper_and_back_and_to_places(page: Page, app_url: str, store: Store) -> None:
    runs = [run_of(store, "sample_data", retriever) for retriever in ("bm25", "abstract-tail")]
    where = f"dataset=sample_data&task={TASK}&runs={','.join(runs)}"
    page.goto(f"{app_url}/analyse?{where}")
    assert re.search(r"bm25 misses \d+ of \d+ aspects: \d+ ", finding(page))
    page.get_by_role("table", name="Instances with missed aspects").locator("tbody tr").first.click()
    expect(page.get_by_role("heading", name="Why bm25 missed")).to_be_visible()
    expect(page.locator(".reader")).to_be_visible()
    settled(page)
    assert parameters(page)["runs"] == ",".join(runs)
    expect(page.locator(".s.selected")).to_have_attribute("data-i", parameters(page)["sentence"])
    n_steps = page.evaluate("history.length")
    page.locator(".s.selected").press("Escape")  # sentence and aspect at once
    expect(page).not_to_have_url(re.compile("aspect="))
    assert page.evaluate("history.length") == n_steps + 1
    settled(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Why bm25 missed")).to_be_visible()
    settled(page)
    page.go_back()
    expect(page.get_by_role("button", name="Work through them")).to_be_visible()
    page.goto(f"{app_url}/analyse?{where}&part=position")
    tenths = finding(page)
    assert re.match(r"In the middle of papers, .*: bm25 finds .*; abstract-tail finds ", tenths)
    press(page, "Settings")
    page.get_by_role("combobox", name="Parts of the paper").click()
    page.get_by_role("option", name="5", exact=True).click()
    expect(page.locator("h2").first).not_to_have_text(tenths)


def test_a_models_wordings_are_read_run_and_compared(
    page: Page, app_url: str, store: Store, own_dataset: str
) -> None:
    bm25 = run_of(store, own_dataset, "bm25")
    page.goto(f"{app_url}/analyse?dataset={own_dataset}&part=wording&task={TASK}&runs={bm25}")
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
    name = page.get_by_placeholder("Your name or initials")
    name.fill("ml")
    name.press("Enter")
    for n_waiting in range(5, -1, -1):
        accept = page.get_by_role("button", name=re.compile("^Accept")).first
        expect(accept).to_be_enabled()
        settled(page)
        accept.click()
        expect(page.get_by_text(f"{n_waiting} waiting")).to_be_visible()
    assert {wording.accepted_by for wording in added_wordings(store, own_dataset)} == {"ml"}
    press(page, "Ask what is missing (30)")  # four wordings came with the data
    page.get_by_role("dialog").get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("h2").first).to_contain_text(re.compile("Rewording (costs|gains) bm25 "))
    assert "points" in finding(page)
    by_variant = {run.variant: run.tasks for run in RunStore(store).runs(own_dataset, variants=True)}
    assert by_variant["paraphrase:tiny"][TASK] == 6


def test_a_click_on_a_bar_counts_once(page: Page, app_url: str, store: Store) -> None:
    page.goto(f"{app_url}/analyse?dataset=sample_data&task=er@10&runs={run_of(store, 'sample_data', 'bm25')}")
    bar = page.locator(".js-plotly-plot .bars .point").first
    expect(bar).to_be_visible()
    settled(page)
    bar.click(force=True)
    expect(page).to_have_url(re.compile("where=cause"))
    settled(page)
    page.get_by_role("button", name="Clear filters").click()
    expect(page).not_to_have_url(re.compile("where="))
    settled(page)
    expect(page).not_to_have_url(re.compile("where="))
