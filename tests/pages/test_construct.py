"""Mark evidence: an instance is begun by hand, proposed by a model, decided, and becomes one of a dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.app.resources import jobs
from components.construct.start import jobs_of
from evidencebench_core.construction import BuildInput, ConstructionSettings
from evidencebench_core.construction.decisions import Decision, Mode, Verdict, add_decisions
from evidencebench_core.construction.pipeline import Construction, construction
from evidencebench_core.construction.review import Review, accepted
from evidencebench_core.construction.sheets import UNPROPOSED, sampled_marks
from evidencebench_core.construction.store import add_builds, use_settings
from evidencebench_core.data import Store
from evidencebench_core.llm import LLM, AnswerCache, Connection
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.runs import execute
from tests.construction.scripted_model import good, paper_text
from tests.construction.test_harvest import review as review_file
from tests.construction.test_harvest import section
from tests.llm.server import answering, scripted
from tests.pages.app import OpenPage, drawn, jobs_ended
from tests.papers.test_europe_pmc import Service, service  # noqa: F401 - a fixture

_SAID: tuple[tuple[str, Verdict, Mode], ...] = (
    ("mark:0:3", "add", "blind"),
    ("mark:0:4", "add", "blind"),
    ("mark:0:7", "reject", "assisted"),
)
HOSTILE = "<script>alert(1)</script> [a](javascript:b) $x$"


@pytest.fixture
def lab(empty_store: Store, tmp_path: Path) -> Construction:
    """A construction with the build "a", looked through by the scripted model, and "b", of which nothing was asked."""
    paper = tmp_path / "tea.txt"
    paper.write_text(paper_text("tea"))
    given = BuildInput("a", str(paper), title=HOSTILE, paragraph=("Before it.", "Tea is good [1]."), citing=1)
    add_builds(empty_store, "lab", [given])
    use_settings(empty_store, "lab", ConstructionSettings("m", coverage=60))
    with scripted(answering(good)) as server:
        llm = LLM(Connection(server.url, "s"), AnswerCache(empty_store))
        for _, plan in construction(empty_store, "lab").plans(llm):
            *_, _ = execute(plan)
    add_builds(empty_store, "lab", [BuildInput("b", str(paper), summary=HOSTILE)])
    return construction(empty_store, "lab")


def begin() -> None:
    """A script: the dialog that begins an instance."""
    from components.app.state import PageState
    from components.construct.begin import begin_dialog

    names = ("construction", "build", "view", "item")
    begin_dialog(PageState("annotate", dict.fromkeys(names, "")))


def review(lab: Construction) -> Review:
    return next(lab.reviews(["a"]))


def test_own_words_and_a_kept_paper_begin_an_instance(lab: Construction, open_page: OpenPage) -> None:
    app = drawn(begin)
    app.named("segmented_control", "From").set_value("own")
    app.run().fill("Hypothesis", "Tea is good.")
    assert "not what an expert finds important" in app.words
    app.fill("PMC id, PubMed id or DOI", "PMC1")
    app.press("Begin")
    made = construction(lab.store, "lab")
    (new,) = set(made.ids()) - {"a", "b"}
    assert (made.state(new).hypothesis, made.state(new).input.paper) == ("Tea is good.", "PMC1")


def test_a_review_is_fetched_by_its_id(
    lab: Construction,
    service: Service,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", service.base)
    app = drawn(begin)
    app.run().fill("The review's PMC id", "PMC34")
    assert "0 of 0 citations can be used" in app.words
    service.article = 404, {}, b""
    app.fill("The review's PMC id", "PMC35")
    assert "PMC35" in app.words


OPEN = b"""<article><front><article-meta><title-group><article-title>Trial 15</article-title></title-group><permissions>
<license xlink:href="https://creativecommons.org/licenses/by-nc/4.0/" xmlns:xlink="http://www.w3.org/1999/xlink"/>
</permissions></article-meta></front><body><p>W was measured. W fell by half.</p></body></article>"""


@pytest.mark.parametrize(
    ("paper", "asked", "licence"),
    [
        (("tea.txt", paper_text("tea").encode(), "text/plain"), True, "CC BY-SA"),
        (("trial.xml", OPEN, "text/xml"), False, "CC BY-NC"),
    ],
)
def test_a_cited_papers_licence_is_read_from_its_file_or_asked(
    lab: Construction, open_page: OpenPage, paper: tuple[str, bytes, str], asked: bool, licence: str
) -> None:
    app = drawn(begin)
    app.named("file_uploader", "or its XML").upload(
        "review.xml", review_file(section("W fell [15].")), "text/xml"
    )
    app.run()
    assert "The paper's licence" not in app.labels("selectbox")  # what Europe PMC serves says it
    app.named("file_uploader", "or its file").upload(*paper)
    app.run()
    assert ("The paper's licence" in app.labels("selectbox")) is asked
    if asked:
        assert app.named("selectbox", "The paper's licence").value == ""  # nobody has said
        app.named("selectbox", "The paper's licence").set_value(licence)
    app.press("Begin")
    made = construction(lab.store, "lab")
    (new,) = set(made.ids()) - {"a", "b"}
    assert made.state(new).input.licence == licence


@pytest.mark.parametrize("build", ["", "a"])
def test_the_jobs_of_this_construction_are_shown(lab: Construction, open_page: OpenPage, build: str) -> None:
    for name in ("lab", "lab 2"):
        jobs().start(jobs_of(name), "x", f"Asking for {name}", lambda job: "done")
    jobs_ended()
    app = open_page("annotate", construction="lab", **{"build": build} if build else {})
    assert "Asking for lab." in app.words
    assert "lab 2" not in app.words
    app.press("Dismiss")
    assert "Asking for lab." not in app.words
    assert [one.title for one in jobs().jobs()] == ["Asking for lab 2"]


def test_an_uploaded_paper_is_kept_once(lab: Construction, open_page: OpenPage) -> None:
    app = drawn(begin)
    for hypothesis in ("Tea is good.", "Tea is bad."):
        app.named("segmented_control", "From").set_value("own")
        app.run().fill("Hypothesis", hypothesis)
        app.named("file_uploader", "or its file").upload("tea.txt", paper_text("tea").encode(), "text/plain")
        app.run().press("Begin")
    assert len(OwnPapers(lab.store).all()) == 1
    assert len(lab.ids()) == 4


def test_what_is_left_is_listed(lab: Construction, open_page: OpenPage) -> None:
    app = open_page("annotate", construction="lab")
    assert "1 instance without study aspects yet" in app.words
    assert "Have it proposed" in app.labels()


def test_what_was_dropped_is_kept_all_the_same(lab: Construction, open_page: OpenPage) -> None:
    use_settings(lab.store, "lab", ConstructionSettings("m"))
    app = open_page("annotate", construction="lab", build="a")
    assert "too few of its aspects stand in the paper" in app.words
    app.fill("Your name or initials", "ann").press("Keep it all the same")
    assert construction(lab.store, "lab").state("a").position.status == "kept"
    app.press("Drop it")
    assert construction(lab.store, "lab").state("a").position.reason == "human"
    assert "Study aspects" in app.words  # what was found of it is still there
    app.press("Keep it all the same")
    assert construction(lab.store, "lab").state("a").position.status == "kept"


def test_items_are_decided_one_after_the_other(lab: Construction, open_page: OpenPage) -> None:
    n_left = len(review(lab).open_items)
    app = open_page("annotate", construction="lab", build="a")
    assert app.named("button", "Accept").disabled
    app.fill("Your name or initials", "model:x")
    assert app.named("button", "Accept").disabled  # that is no person
    app.fill("Your name or initials", "ann")
    app.press("Accept")
    assert f"{n_left - 1} left" in app.words.replace("*", "")
    app.press("Reject")
    said = {one.item: one.verdict for one in review(lab).decisions}
    assert said == {"hypothesis": "accept", "aspect:0": "reject"}
    assert 0 not in {one.number for one in review(lab).state.aspects}


def test_what_was_decided_last_is_taken_back(lab: Construction, open_page: OpenPage) -> None:
    before = review(lab)
    app = open_page("annotate", kept={"author": "ann"}, construction="lab", build="a")
    assert app.named("button", "Undo").disabled
    app.press("Accept").press("Reject").press("No result")
    app.press("Undo").press("Undo")
    after = review(lab)
    assert after.state.aspects == before.state.aspects
    assert len(after.open_items) == len(before.open_items) - 1  # the hypothesis
    app.press("Undo")
    assert review(lab).open_items == before.open_items
    assert app.named("button", "Undo").disabled
    assert len(review(lab).decisions) == 6  # nothing is forgotten


def test_who_marks_without_the_models_sentences_sees_none(lab: Construction, open_page: OpenPage) -> None:
    app = open_page(
        "annotate", kept={"author": "ann"}, construction="lab", build="a", blind="1", sentence="3"
    )
    assert "**4 left**" in app.words  # the hypothesis and three aspects
    assert set(app.named("selectbox", "It covers").options) >= {
        "A1 It is about blood",
        "A2 It is about weight",
    }
    app.press("Add")
    (said,) = review(lab).decisions
    assert (said.item, said.verdict, said.mode) == ("mark:0:3", "add", "blind")
    app.press("Accept")
    assert review(lab).decisions[-1].mode == "assisted"  # its words were in sight
    app.run(blind="", item="mark:0:7")
    app.press("Accept")
    assert "Hidden" not in app.named("segmented_control", "The model's sentences").options
    assert review(lab).marks[0] == {3, 7}


def test_proposed_sentences_stand_among_others(lab: Construction, open_page: OpenPage) -> None:
    marks, proposed = [*sampled_marks(review(lab).state)], ("mark:0:3", "mark:0:7", "mark:0:19", "mark:1:22")
    assert len(marks) == len(proposed) + 3 * UNPROPOSED
    missed = next(one for one in marks if one not in proposed)
    for item in {*marks} - {missed, "mark:0:3"}:
        verdict: Verdict = "accept" if item in proposed else "reject"
        said = Decision("a", item, verdict, "ann", about=review(lab).about(item) or "")
        add_decisions(lab.store, "lab", [said])
    app = open_page("annotate", kept={"author": "ann"}, construction="lab", build="a", blind="mixed")
    for item in ("mark:0:3", missed):
        app.run(item=item)
        assert "The model:" not in app.words
        app.press("Accept")
    assert [review(lab).verdict(item) for item in ("mark:0:3", missed)] == ["accept", "add"]
    app = open_page("annotate", construction="lab")
    assert f"By {len(marks)} sentences judged" in app.words
    assert "that a model proposed people accept 100.0%" in app.words


def test_a_model_and_people_are_compared(lab: Construction, open_page: OpenPage) -> None:
    for item, verdict, mode in _SAID:
        about = review(lab).about(item) or ""
        add_decisions(lab.store, "lab", [Decision("a", item, verdict, "ann", mode, about=about)])
    app = open_page("annotate", construction="lab", build="a")
    app.press("Compare")
    options = {*app.named("selectbox", "Annotator A").options, *app.named("selectbox", "Annotator B").options}
    (model,) = {one for one in options if one.startswith("model:m ")}
    assert options == {model, "ann (blind)", "ann (assisted)"}
    assert "23 judgements" in app.words or "24 judgements" in app.words
    app.press("Back to the instance")
    assert "Study aspects" in app.words


def test_a_summary_is_edited_and_another_paper_is_named(lab: Construction, open_page: OpenPage) -> None:
    app = open_page("annotate", kept={"author": "ann"}, construction="lab", build="a")
    assert "Is it the right paper? The review cites" in app.words
    app.named("text_area", "Your words").set_value("Tea is very good.")
    app.press("Keep these words")
    assert review(lab).state.summary == "Tea is very good."
    assert "Have it proposed" in app.labels()


def test_an_edited_aspect_keeps_its_label(lab: Construction, open_page: OpenPage) -> None:
    app = open_page("annotate", kept={"author": "ann"}, construction="lab", build="a", item="aspect:0")
    app.named("text_area", "Your words", 1).set_value("It is about the blood")
    app.press("Keep these words", 1)
    edited = {one.text: one.is_result for one in review(lab).state.aspects}
    assert edited["It is about the blood"] is True
    assert not (app.address.get("item") or "").startswith("mark:0:")  # the old one's sentences


def test_a_finished_one_becomes_an_instance(lab: Construction, open_page: OpenPage) -> None:
    add_decisions(lab.store, "lab", accepted(review(lab), "ann"))
    about = review(lab).about("mark:1:5") or ""
    add_decisions(lab.store, "lab", [Decision("a", "mark:1:5", "add", "bob", about=about)])
    app = open_page("annotate", construction="lab", build="a")
    assert "Everything is decided" in app.words
    app.press("Add to my datasets")
    (dataset,) = lab.store.datasets()
    instance = lab.store.get(dataset.name, "a")
    assert [aspect.sentence_indices for aspect in instance.evidence.aspects] == [(3, 7, 19), (5, 22)]


def test_names_that_are_not_there_are_said(lab: Construction, open_page: OpenPage) -> None:
    assert "nosuch" in open_page("annotate", construction="nosuch").words
    assert "nosuch" in open_page("annotate", construction="lab", build="nosuch").words
    assert not open_page("annotate", construction="lab", build="a", item="mark:9:9", sentence="999").exception
