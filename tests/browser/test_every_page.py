"""Every page, light and dark: axe finds nothing serious, a phone never scrolls it sideways, no other host is asked.

Nothing is excused: what axe found in Streamlit's own widgets, `page.css` could style.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from evidencebench_core.analyses.sample import ingest_sample
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.answers.asking import answer_plan
from evidencebench_core.data import Store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.perturb import Draft, MadeBy
from evidencebench_core.reliability.drafts import ItemDrafts
from evidencebench_core.reliability.items import Item, add_items
from evidencebench_core.reliability.sample import add_sample_items
from evidencebench_core.runs import ChatRuns, RunStore
from evidencebench_core.runs.notes import Note, NoteStore
from tests.answers.judging import judge_sample
from tests.browser.conftest import DESKTOP
from tests.browser.serving import ROOT
from tests.browser.settling import assert_fits, hosts_asked, press, settled
from tests.papers.pdf.gold import gold_of
from tests.papers.pdf.layouts import LAYOUTS
from tests.papers.pdf.typesetting import typeset
from tests.reliability.asking import ask_scripted

SAMPLE = ROOT / "sample_data" / "sample_data.json"
PHONE = {"width": 390, "height": 844}
GRAVE = ("serious", "critical")
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 26)"}

PAGES = {  # the address, and what it shows once it is whole
    "/": ".table-root tbody tr",
    "/browse?dataset=sample_data&s=adherence": "td.snippet",
    '/browse?dataset=sample_data&noted=yes&if=[["score","{bm25}","er@10","<",90]]': ".table-root tbody tr",
    "/browse?instance=sample_cohort&task=er%4010&r=bm25~abstract-tail&sentence=12&words=1": ".s.selected",
    "/browse?instance=sample_cohort&task=er%4010&r=bm25~lead&h=Night+work&asif=1": "td:text('= kept') >> nth=0",
    "/browse?instance=sample_cohort&task=er%4010&r=bm25~lead&columns=1": ".ranks .card",
    "/browse?instance=sample_cohort&r=bm25~dense;model=some/model": "[class*=st-key-load-notice]",
    "/paper": "[data-testid=stFileUploader]",
    "/paper?paper=sample_trial&r=bm25~lead&sentence=3": ".pick",
    "/paper?paper=sample_trial&r=bm25&present=1": ".pick",
    "/paper?paper=2&r=bm25&view=page": ".sheet .rank",
    "/paper?paper=2&r=bm25&view=page&present=1": ".sheet .rank",
    "/paper?over=kept&h=Pressure+fell&r=bm25": "tr.heading",
    "/paper?over=dataset:sample_data": ".table-root tbody tr",
    "/annotate": ".table-root tbody tr",
    "/annotate?paper=1&annotator=Ada&sentence=4": ".s.selected",
    "/annotate?paper=1&view=compare": ".table-root tbody tr",
    "/annotate?paper={lab}&view=compare": ".table-root tbody tr",
    "/leaderboard?compare={bm25},{lead}": ".js-plotly-plot >> nth=1",
    "/models": "input",
    "/models?part=prices": "[data-testid=stDataFrame]",
    "/models?part=prompts": ".table-root tbody tr",
    "/models?part=ranker": "button",
    "/browse?instance=sample_case_control": "th:text('Rests on')",
    "/missed?run={bm25}": ".table-root tbody tr",
    "/missed?run={bm25}&section=results&noted=no": ".js-plotly-plot",
    "/missed?dataset=sample_data&run={bm25}&instance=sample_cohort&aspect=sample_cohort_aspect_5": ".s",
    "/middle": ".js-plotly-plot",
    "/middle?view=ends": ".table-root tbody tr",
    "/wording": ".js-plotly-plot",
    "/wording?part=wordings": ".table-root tbody tr",
    "/wording?part=make": "input",
    "/wording?part=review": "h1",
    "/wording?items=tea&part=make": "input",
    "/wording?items=tea&part=review": "[class*=st-key-draft]",
    "/compare": ".js-plotly-plot",
    "/compare?task=er%4010&instance=sample_cohort": ".ranks .card",
    "/dataset": ".js-plotly-plot",
    "/reliability": "[data-testid=stAlert]",
    "/reliability?items=sample": ".js-plotly-plot",
    "/reliability?items=sample&part=task&task=few-shot": ".js-plotly-plot",
    "/reliability?items=sample&part=task&task=spelling&cell=right-right": ".js-plotly-plot",
    "/reliability?items=sample&part=task&task=unknown": ".js-plotly-plot",
    "/reliability?items=sample&part=task&task=negation&item=sample-01": "[data-testid=stExpander]",
    "/reliability?items=sample&part=compare": ".js-plotly-plot",
    "/reliability?items=sample&part=judges": ".table-root tbody tr",
    "/reliability?items=sample&part=questions": ".table-root tbody tr",
    "/answers": ".js-plotly-plot",
    "/answers?part=answers&question=migraine&system=Magpie&sentence=3": ".prose .one",
    "/answers?part=answers&question=ankle&run={judge}": ".js-plotly-plot",
    "/answers?part=nuggets": ".js-plotly-plot",
    "/answers?part=judges": ".js-plotly-plot",
    "/answers?part=queue": ".table-root tbody tr",
    "/answers?part=sets": "[data-testid=stFileUploader]",
}


@pytest.fixture(scope="module")
def links(store: Store) -> dict[str, str]:
    """Ids of runs, by retriever, for the addresses; two kept papers, one marked by Ada and Ben, one with its PDF."""
    text = "# Tea\n\n## Results\n\n" + " ".join(f"Pressure fell by {n} mmHg." for n in range(30))
    own = OwnPapers(store).save(read_paper(text.encode(), "tea.md"), "Tea", "Tea lowers pressure.")
    for who, indices in (("Ada", [4, 5]), ("Ben", [5, 9])):
        begun = Annotation(who, own.hypothesis, own.n_sentences).add_aspect("Pressure fell")
        Annotations(store).save(own.key, begun.mark("aspect_0", indices))
    pdf = typeset(gold_of("pdf_two_columns").article, LAYOUTS[1])
    OwnPapers(store).save(read_paper(pdf, "two.pdf"), "Two columns", "The second group did better.", pdf)
    add_items(store, "tea", [Item("1", "Does tea lower pressure?", ("Pressure fell by 6 mmHg.",), "yes")])
    negation = Draft(
        "1", "negation", "", "Pressure rose by 6 mmHg.", made_by=MadeBy("tiny", "p 1", checked_by="other")
    )
    ItemDrafts(store, "tea").add([negation])
    ingest_sample(store, SAMPLE)
    asked = answer_plan(store, "sample_data", "tiny").spec
    ChatRuns(store).create(asked)
    said = {
        "text": "VERDICT: mixed\nANSWER: Night work raises the risk [3, 7]. It is not known why.",
        "model": "tiny",
    }
    ChatRuns(store).add(asked.id, {"sample_case_control": said})
    for index, flagged in ((12, True), (13, False)):
        about = {"instance_id": "sample_cohort", "dataset": "sample_data", "sentence": index}
        NoteStore(store).add(Note(**about, author="Ada", flagged=flagged, text="Is this evidence?"))
    add_sample_items(store)
    tasks = ("baseline", "few-shot", "spelling", "negation", "freeform", "unknown")
    ask_scripted(store, "sample", tasks, ("always-yes", "word-overlap"))
    runs = {run.retriever: run.id for run in RunStore(store).runs("sample_data") if not run.variant}
    return {**runs, "judge": judge_sample(store)}


# Again and again: what stands above may still grow and push the place off the screen.
SCROLLED_TO = "place => (place.scrollIntoView({block: 'center'}), !place.checkVisibility())"


def wear(page: Page, scheme: str) -> None:
    """Show the page light or dark."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[scheme])
    settled(page)


def assert_accessible(page: Page, within: str | None = None) -> None:
    """That axe finds nothing serious in a page, or a part of it, as it stands, and no level of headings left out.

    Streamlit fades what it draws again, and on a loaded machine that may begin while axe looks: what is found
    must be found again.
    """
    for _ in range(3):
        violations = Axe().run(page, within).response["violations"]
        serious = [one for one in violations if one["impact"] in GRAVE or one["id"] == "heading-order"]
        if not serious:
            break
        page.wait_for_timeout(2_000)
        settled(page)
    assert [(one["id"], node["target"], node["html"]) for one in serious for node in one["nodes"]] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_fits_a_phone_and_asks_no_other_host(
    new_page: Callable[..., Page], app_url: str, links: dict[str, str], path: str
) -> None:
    page = new_page(viewport=PHONE)
    hosts = hosts_asked(page)
    page.goto(app_url + path.format(**links))
    expect(page.get_by_role("heading").first).to_be_visible()
    settled(page)
    unseen = page.locator("[class*=st-key-seen-]")
    for place in unseen.element_handles():  # drawn once it is scrolled to
        page.wait_for_function(SCROLLED_TO, arg=place, polling=400)
    expect(unseen.filter(visible=True)).to_have_count(0)
    expect(page.locator(PAGES[path]).first).to_be_visible()
    for scheme in GROUNDS:
        wear(page, scheme)
        assert_fits(page)
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    for scheme in reversed(GROUNDS):
        wear(page, scheme)
        assert_accessible(page)
    assert hosts - {""} == {"127.0.0.1"}


@pytest.mark.parametrize("scheme", GROUNDS)
@pytest.mark.parametrize(
    ("path", "opener", "shows"),
    [
        ("/leaderboard?dataset=sample_data", "Start or resume a run", "Start"),
        ("/answers", "Judge the answers", "Question to the judge"),
    ],
)
def test_a_dialog_is_accessible(
    page: Page, app_url: str, links: dict[str, str], scheme: str, path: str, opener: str, shows: str
) -> None:
    assert links
    page.goto(app_url + path)
    expect(page.get_by_role("heading").first).to_be_visible()
    wear(page, scheme)
    press(page, opener)
    expect(page.get_by_role("dialog").get_by_text(shows, exact=True).first).to_be_visible()
    settled(page)
    assert_accessible(page)


@pytest.mark.parametrize("scheme", GROUNDS)
def test_the_folded_filters_are_accessible(
    page: Page, app_url: str, links: dict[str, str], scheme: str
) -> None:
    page.goto(f"{app_url}/missed?run={links['bm25']}&task=er%4010")
    expect(page.locator(".table-root tbody tr").first).to_be_visible()
    wear(page, scheme)
    press(page, "Filters")
    expect(page.get_by_text("All aspects, not the result aspects only")).to_be_visible()
    settled(page)
    assert_accessible(page)


def test_the_labels_of_an_open_chart_follow_the_theme(page: Page, app_url: str) -> None:
    page.goto(app_url + "/dataset?dataset=sample_data")
    label = page.locator(".js-plotly-plot .xtick text").first
    expect(label).to_be_attached()
    for scheme in ("dark", "light", "dark"):
        wear(page, scheme)
        fill = label.evaluate("text => getComputedStyle(text).fill")  # color(srgb 0.91 ...
        assert (float(fill.split()[1]) > 0.5) == (scheme == "dark"), fill


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/browse?dataset=sample_data", "Add a condition"),
        ("/browse?dataset=sample_data&q=night", "Saved filters"),
        ("/browse?instance=sample_cohort&r=bm25&sentence=12", "Flag or comment"),
    ],
)
def test_a_popover_is_accessible(
    new_page: Callable[..., Page], app_url: str, links: dict[str, str], path: str, name: str
) -> None:
    assert links
    page = new_page()
    page.goto(app_url + path)
    for scheme in GROUNDS:
        wear(page, scheme)
        if not page.get_by_test_id("stPopoverBody").is_visible():
            page.get_by_role("button", name=name).click()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        settled(page)
        assert_accessible(page, "[data-testid=stPopoverBody]")  # the rest is under it


def test_what_has_the_focus_has_a_ring(page: Page, app_url: str) -> None:
    page.goto(app_url + "/browse?dataset=sample_data")
    for role, name in (("link", "Leaderboard"), ("button", "Sentences"), ("button", "Copy link")):
        target = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
        expect(target).to_be_visible()
        settled(page)
        target.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")  # a ring is for those who come by keyboard
        expect(target).to_be_focused()
        expect(target).to_have_css("outline-style", "solid")
        expect(target).to_have_css("outline-width", "2px")
