"""Mark evidence in a real browser: marks by clicks, undo, the file that comes of it, a disagreement decided."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store, check_instance
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from tests.browser.settling import press, sentence, settled

TEXT = "# Tea\n\n## Results\n\n" + " ".join(f"Pressure fell by {n} mmHg." for n in range(30)) + "\n"


@pytest.fixture(scope="module", autouse=True)
def _papers(store: Store) -> None:
    """Two kept papers; the second was marked by Ada and Ben."""
    for name in ("Fresh", "Marked"):
        own = OwnPapers(store).save(read_paper(TEXT.encode(), "tea.md"), name, "Tea lowers pressure.")
    for who, indices in (("Ada", [4, 5]), ("Ben", [5, 9])):
        begun = Annotation(who, own.hypothesis, own.n_sentences).add_aspect("Pressure fell")
        Annotations(store).save(own.key, begun.mark("aspect_0", indices))


def fill(page: Page, label: str, text: str, button: str) -> None:
    """Type into a field and press its button."""
    expect(page.get_by_label(label)).to_be_visible()
    settled(page)
    page.get_by_label(label).fill(text)
    page.get_by_role("button", name=button).click()


@pytest.mark.flow
def test_mark_undo_and_take_away(page: Page, app_url: str) -> None:
    page.goto(app_url + "/annotate")
    fresh = page.get_by_role("row").filter(has_text="Fresh")
    expect(fresh).to_be_visible()
    settled(page)
    fresh.click()
    fill(page, "Your name or initials", "Cy", "Start marking")
    fill(page, "New study aspect", "Pressure fell", "Add aspect")
    expect(page.get_by_text("0 of 1 aspects have a sentence")).to_be_visible()
    settled(page)
    sentence(page, 4).click()
    settled(page)
    page.get_by_test_id("stButtonGroup").get_by_text("A1 Pressure fell").click()
    expect(page.get_by_text("1 of 1 aspects have a sentence; 1 of 32 sentences marked.")).to_be_visible()
    expect(sentence(page, 4)).to_have_attribute("data-mark", "gold")
    settled(page)

    page.get_by_text("A click in the paper marks at once for A1").click()
    for index in (6, 8):
        settled(page)
        sentence(page, index).click()
        expect(sentence(page, index)).to_have_attribute("data-mark", "gold")
    settled(page)
    sentence(page, 8).click()  # again: the mark is taken back
    expect(page.get_by_text("2 of 32 sentences marked.")).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_text("3 of 32 sentences marked.")).to_be_visible()

    page.reload()
    expect(page.get_by_text("3 of 32 sentences marked.")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download dataset (JSON)").click()
    [(instance_id, raw)] = json.loads(download.value.path().read_text(encoding="utf-8")).items()
    assert check_instance(instance_id, raw)
    assert list(raw["aspect2sentence_indices"].values()) == [[4, 6, 8]]


def test_a_disagreement_is_decided_where_it_stands(page: Page, app_url: str) -> None:
    page.goto(app_url + "/annotate?paper=2&view=compare")
    expect(page.get_by_role("button", name="Marked by Ada or Ben: 3")).to_be_visible()
    expect(page.get_by_label("sentence 9, marked by Ada or Ben, covers Ben")).to_have_count(1)
    press(page, "Begin the consensus")
    expect(page.get_by_role("button", name="Accept all of Ada")).to_be_visible()
    settled(page)
    page.get_by_role("row").filter(has_text="Pressure fell by 7 mmHg").last.click()
    expect(page.get_by_text(re.compile("2 of 2: Sentence 9"))).to_be_visible()
    expect(sentence(page, 9)).to_have_class(re.compile("selected"))
    press(page, "Accept Ada: leave it out")
    expect(page.get_by_role("row").filter(has_text="left out")).to_have_count(1)
