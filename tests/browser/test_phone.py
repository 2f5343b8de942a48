"""Every page on a phone, light and dark: none scrolls sideways, none asks another host for anything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from evidencebench_core.data import Store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers
from tests.browser.settling import ON_A_PHONE, assert_fits, hosts_asked


@pytest.fixture(scope="module", autouse=True)
def _annotated(store: Store) -> None:
    """A kept paper, marked by Ada and Ben."""
    text = "# Tea\n\n## Results\n\n" + " ".join(f"Pressure fell by {n} mmHg." for n in range(30))
    own = OwnPapers(store).save(read_paper(text.encode(), "tea.md"), "Tea", "Tea lowers pressure.")
    for who, indices in (("Ada", [4, 5]), ("Ben", [5, 9])):
        begun = add_aspect(Annotation(who, own.hypothesis, own.n_sentences), "Pressure fell")
        Annotations(store).save(own.key, mark(begun, "aspect_0", indices))


@ON_A_PHONE
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/browse",
        "/browse?dataset=sample_data&instance=sample_cohort&task=er%4010&r=bm25~abstract-tail",
        "/leaderboard",
        "/annotate",
        "/annotate?paper=1&annotator=Ada&sentence=4",
        "/annotate?paper=1&view=compare",
        "/paper",
        "/paper?paper=sample_trial&r=bm25~lead",
        "/paper?paper=sample_trial&r=bm25&present=1",
    ],
)
def test_a_phone_never_scrolls_sideways_and_no_other_host_is_asked(
    new_page: Callable[..., Page], app_url: str, path: str, phone: dict[str, object]
) -> None:
    page = new_page(**phone)
    hosts = hosts_asked(page)
    page.goto(app_url + path)
    if "sample_trial" in path:
        page.locator(".picks .pick").first.wait_for()
    assert_fits(page)
    assert hosts - {""} == {"127.0.0.1"}
