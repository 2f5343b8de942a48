"""Every page, dark on a phone and light on a desk: axe finds nothing serious, nothing scrolls sideways, no other host
is asked, nothing that is asked for is missing and no script complains.

Nothing is excused: what axe found in Streamlit's own widgets, `page.css` could style.
"""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from evidencebench_core.analyses.sample import SAMPLE_RUNS
from evidencebench_core.analyses.wording import QUESTIONS, variants_for
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.reliability.read_items import SAMPLE, ingest_items
from evidencebench_core.runs import run
from evidencebench_core.tasks import TASKS
from tests.answers.judging import add_sample
from tests.browser.conftest import DESKTOP
from tests.browser.settling import PHONE, assert_accessible, assert_fits, set_color_scheme, settled
from tests.reliability.asking import ask_scripted

PAGES = {  # the address, and what it shows once it is whole
    "/": ".table-root tbody tr",
    "/browse?dataset=sample_data&s=adherence": ".table-root tbody tr",
    "/browse?instance=sample_cohort&task=er%4010&live=bm25~abstract-tail&sentence=12&words=1": ".s.selected",
    "/paper": "[data-testid=stFileUploader]",
    "/paper?paper={paper}&live=bm25&sentence=4": ".findings .pick",
    "/paper?paper={paper}&live=bm25&present=1": ".findings .pick",
    "/annotate": ".table-root tbody tr",
    "/annotate?paper={paper}&annotator=Ada&sentence=4": ".s.selected",
    "/annotate?paper={paper}&view=compare": ".table-root tbody tr",
    "/?shown=sample_data": ".table-root >> nth=2",
    "/runs?runs={bm25},{lead}": ".js-plotly-plot >> nth=1",
    "/runs?runs={bm25},{lead}&part=aspects": ".table-root >> nth=1",
    "/analyse?run={bm25}": ".js-plotly-plot",
    "/browse?dataset=sample_data&runs={bm25}&instance=sample_cohort&aspect=A5": ".s",
    "/runs?run={bm25}": ".table-root tbody tr",
    "/analyse?part=verdicts": ".js-plotly-plot",
    "/analyse?part=position": ".js-plotly-plot",
    "/analyse?part=wording": ".js-plotly-plot",
    "/reliability?items=sample": ".js-plotly-plot",
    "/reliability?items=sample&part=test": ".table-root tbody tr",
    "/answers": ".js-plotly-plot",
    "/answers?part=answer&question=migraine&system=Magpie&sentence=3": ".prose .one",
}

# Streamlit looks for the app's root by asking for /PAGE/_stcore.
_STREAMLITS = "/_stcore/|Failed to load resource"


@pytest.fixture(scope="module")
def links(store: Store) -> dict[str, str]:
    """Ids for the addresses: of runs, by retriever, and of a kept paper that Ada and Ben have marked."""
    tasks = tuple(TASKS)  # whatever tests before this file have run
    runs = {name: run(store, "sample_data", name, tasks=tasks).id for name in SAMPLE_RUNS}
    for question in QUESTIONS:
        for wording in variants_for(store, "sample_data", question):
            run(store, "sample_data", "bm25", tasks=tasks, variant=wording)
    text = "# Tea\n\n## Results\n\n" + " ".join(f"Pressure fell by {n} mmHg." for n in range(30))
    own = OwnPapers(store).save(read_paper(text.encode(), "tea.md"), "Tea", "Tea lowers pressure.")
    for annotator, indices in (("Ada", [4, 5]), ("Ben", [5, 9])):
        annotation = Annotation(annotator, own.hypothesis, own.n_sentences).add_aspect("Pressure fell")
        Annotations(store).save(own.key, annotation.mark("aspect_0", indices))
    ingest_items(store, SAMPLE, "sample")
    ask_scripted(store, "sample", ("baseline", "few-shot"), ("always-yes", "word-overlap"))
    add_sample(store)
    return {**runs, "paper": str(own.id)}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible_fits_a_phone_and_asks_no_other_host(
    new_page: Callable[..., Page], app_url: str, links: dict[str, str], path: str
) -> None:
    page = new_page(viewport=PHONE)
    hosts: set[str | None] = set()
    problems: list[str] = []
    page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("response", lambda answer: problems.append(answer.url) if answer.status >= 400 else None)
    page.goto(app_url + path.format(**links))
    settled(page)
    expect(page.locator(PAGES[path]).first).to_be_visible()
    for size, scheme in ((PHONE, "dark"), (DESKTOP, "light")):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        set_color_scheme(page, scheme)
        assert_fits(page)
        assert_accessible(page)
    assert hosts - {None} == {"127.0.0.1"}
    assert [problem for problem in problems if not re.search(_STREAMLITS, problem)] == []
