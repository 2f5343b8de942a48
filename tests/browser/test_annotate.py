"""Mark evidence in a real browser: marks by clicks, undo, the file that comes of it, and a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.data import check_instance, open_store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers
from tests.browser.serving import served_app
from tests.browser.settling import ON_A_PHONE, assert_fits, settled

TEXT = "# Tea\n\n## Results\n\n" + " ".join(f"Pressure fell by {n} mmHg." for n in range(30)) + "\n"


@pytest.fixture(scope="module")
def app_url(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a store with two kept papers; the second was marked by Ada and Ben."""
    folder: Path = tmp_path_factory.mktemp("annotate")
    store = open_store(folder / "store.sqlite")
    for name in ("Fresh", "Marked"):
        own = OwnPapers(store).save(read_paper(TEXT.encode(), "tea.md"), name, "Tea lowers pressure.")
    for who, indices in (("Ada", [4, 5]), ("Ben", [5, 9])):
        begun = add_aspect(Annotation(who, own.hypothesis, own.n_sentences), "Pressure fell")
        Annotations(store).save(own.key, mark(begun, "aspect_0", indices))
    with served_app(folder) as address:
        yield address


def sentence(page: Page, index: int):
    return page.locator(f'.reader [data-i="{index}"]')


def test_mark_undo_and_take_away(page: Page, app_url: str) -> None:
    page.goto(app_url + "/annotate")
    expect(page.get_by_role("row").filter(has_text="Fresh")).to_be_visible()
    settled(page)
    page.get_by_role("row").filter(has_text="Fresh").click()
    expect(page.get_by_label("Your name or initials")).to_be_visible()
    settled(page)
    page.get_by_label("Your name or initials").fill("Cy")
    page.get_by_role("button", name="Start marking").click()
    expect(page.get_by_label("New study aspect")).to_be_visible()
    settled(page)
    page.get_by_label("New study aspect").fill("Pressure fell")
    page.get_by_role("button", name="Add aspect").click()
    expect(page.get_by_text("0 of 1 aspects have a sentence")).to_be_visible()

    settled(page)
    sentence(page, 4).click()
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
    settled(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("3 of 32 sentences marked.")).to_be_visible()

    page.reload()
    expect(page.get_by_text("3 of 32 sentences marked.")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download dataset (JSON)").click()
    dataset = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    [(instance_id, raw)] = dataset.items()
    assert check_instance(instance_id, raw)
    assert list(raw["aspect2sentence_indices"].values()) == [[4, 6, 8]]


def test_a_disagreement_is_decided_where_it_stands(page: Page, app_url: str) -> None:
    page.goto(app_url + "/annotate?paper=2&view=compare")
    expect(page.get_by_role("button", name="Begin the consensus")).to_be_enabled()
    settled(page)
    page.get_by_role("button", name="Begin the consensus").click()
    expect(page.get_by_role("button", name="Accept all of Ada")).to_be_visible()
    settled(page)
    page.get_by_role("row").filter(has_text="Pressure fell by 7 mmHg").last.click()
    expect(page.get_by_text(re.compile("2 of 2: Sentence 9"))).to_be_visible()
    expect(sentence(page, 9)).to_have_class(re.compile("selected"))
    settled(page)
    page.get_by_role("button", name="Accept Ada: leave it out").click()
    expect(page.get_by_role("row").filter(has_text="left out")).to_have_count(1)


@ON_A_PHONE
@pytest.mark.parametrize("path", ["", "?paper=2&annotator=Ada&sentence=4", "?paper=2&view=compare"])
def test_a_phone_never_scrolls_sideways(
    new_page: Callable[..., Page], app_url: str, path: str, phone: dict[str, object]
) -> None:
    page = new_page(**phone)
    page.goto(f"{app_url}/annotate{path}")
    assert_fits(page)
