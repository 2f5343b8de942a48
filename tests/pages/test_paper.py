"""Your paper: brought, read, searched, kept, presented."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psutil
import pytest

from components.paper import bring, cached
from components.paper.opened import OpenPaper, new_ref
from evidencebench_core.data import Store, ingest
from evidencebench_core.papers import Doubt, Paper, read_paper
from evidencebench_core.papers.own import OwnPapers
from tests.llm.server import reply, scripted
from tests.pages.app import SAMPLE, App, OpenPage
from tests.papers.pdf.hostile import paged, stream
from tests.papers.test_europe_pmc import Service, service

__all__ = ["service"]  # the fixture

pytestmark = pytest.mark.usefixtures("empty_store")

TEXT = """Salt and blood pressure

Abstract
We tested a salt substitute in care homes. Blood pressure fell by 4.9 mmHg.

1. Introduction
Salt raises blood pressure. Kitchens season the food of residents.

2. Results
Systolic pressure was lower with the substitute. Sleep did not change.
"""
HYPOTHESIS = "A salt substitute lowers systolic blood pressure."
TRIAL = {"paper": "sample_trial", "r": "bm25"}


@pytest.fixture
def own(empty_store: Store) -> OwnPapers:
    return OwnPapers(empty_store)


@pytest.fixture
def paper() -> Paper:
    return read_paper(TEXT.encode(), "salt.txt")


@pytest.fixture
def kept(own: OwnPapers, paper: Paper) -> str:
    """The id of a kept paper."""
    return str(own.save(paper, "Salt", HYPOTHESIS).id)


@pytest.fixture
def in_memory(paper: Paper) -> str:
    """The ref of a paper that is open and not kept."""
    ref = new_ref()
    cached.open_papers().put(OpenPaper(ref, paper, "salt.txt"))
    return ref


# -- bringing one ---------------------------------------------------------------------------------------


def uploaded(open_page: OpenPage, name: str, content: bytes, kind: str = "text/plain", **params: str) -> App:
    app = open_page("paper", r="bm25", **params)
    app.file_uploader[0].upload(name, content, kind)
    return app.run()


def fetching(open_page: OpenPage, reference: str) -> App:
    return open_page("paper", r="bm25", h="Tea is hot.").fill("PMC id", reference).press("Fetch it")


def test_the_empty_page_says_what_it_takes_and_how_much(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_PAPER_MIB", "3")
    app = open_page("paper", r="bm25")
    assert "up to 3 MiB" in app.file_uploader[0].label
    assert app.labels("tab") == ["Upload", "Folder", "Paste text", "Europe PMC", "Sample", "Dataset"]
    assert "Nothing is kept before you keep it" in app.words


def test_an_upload_is_read_searched_and_not_kept(open_page: OpenPage, own: OwnPapers) -> None:
    app = uploaded(open_page, "..\\..\\evil/salt.txt", TEXT.encode(), h=HYPOTHESIS).finish()
    assert "# Salt and blood pressure" in app.words
    # 1 title, 2 of the abstract, 2 headings with 2 sentences each
    assert "9 sentences · 3 headings among them · 2 in the abstract · read from text in" in app.words
    assert "9 sentences picked by bm25" in app.words  # it asked for 10 of 9
    assert app.address["paper"].startswith("open-")
    assert app.address["h"] == HYPOTHESIS
    assert own.all() == ()


def test_pasted_text_is_read(open_page: OpenPage) -> None:
    app = open_page("paper", r="bm25").fill("Text of the paper", TEXT, "text_area").ask("Read the text")
    assert "# Salt and blood pressure" in app.words
    assert "Write a hypothesis above" in app.words


def test_a_file_that_cannot_be_read_says_why_and_stays_where_it_was(open_page: OpenPage) -> None:
    app = uploaded(open_page, "<b>x.pdf", b"%PDF-1.4 nothing", "application/pdf").finish()
    (error,) = app.error
    assert "\\<b\\>x\\.pdf" in error.value
    assert len(app.file_uploader) == 2
    assert "paper" not in app.address


def test_a_paper_is_fetched_and_read_or_says_why_not(
    open_page: OpenPage, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is no PMC id, PubMed id or DOI" in fetching(open_page, "no such thing").problems
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", "http://127.0.0.1:9/none")  # no server listens there
    failed = fetching(open_page, "PMC2785062").finish()
    assert "cannot be reached" in failed.problems
    assert "give the paper as a file" in failed.problems
    assert failed.named("text_input", "PMC id").value == "PMC2785062"  # to be tried again
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", service.base)
    words = fetching(open_page, "10.1000/xyz123").finish().words
    assert "PMC34 from Europe PMC" in words
    assert "1 sentence picked by bm25" in words


def test_a_fetch_that_waits_can_be_left(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection and never answers
        monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", f"http://127.0.0.1:{silent.getsockname()[1]}/none")
        app = fetching(open_page, "PMC2785062")
        assert "Fetching PMC2785062" in app.words
        assert "Reading was cancelled" in app.press("Cancel").run().words
        assert len(app.file_uploader) == 2
    assert "Reading was cancelled" in app.finish().words


def test_a_cancel_ends_the_reading_process_and_the_page_is_back(open_page: OpenPage) -> None:
    def readers() -> list[psutil.Process]:
        alive = []
        for child in psutil.Process().children():
            with suppress(psutil.Error):  # it has just ended
                if "papers.child" in " ".join(child.cmdline()):
                    alive.append(child)
        return alive

    slow = b"Tea " + b"( " * 400_000  # the splitter takes more than linear time for this
    app = uploaded(open_page, "slow.txt", slow)
    assert "Reading slow.txt" in app.words
    assert len(app.file_uploader) == 0
    tick = threading.Event()
    for _ in range(2000):  # the job's thread starts it
        if readers() or tick.wait(0.01):
            break
    assert len(readers()) == 1
    assert "Reading was cancelled" in app.ask("Cancel").words
    assert len(app.file_uploader) == 2
    assert psutil.wait_procs(readers(), timeout=10)[1] == []  # none is still alive


# -- reading it -----------------------------------------------------------------------------------------


def test_doubts_about_the_text_are_listed_by_section(open_page: OpenPage, paper: Paper) -> None:
    ref = new_ref()
    doubtful = replace(paper, doubts=(Doubt("Re*s*ults", 4, "columns", "Mixed <b>."),))
    cached.open_papers().put(OpenPaper(ref, doubtful, "salt.pdf"))
    app = open_page("paper", paper=ref, r="bm25")
    listed = app.named("expander", "Text to check against the PDF: 1 place")
    assert listed.markdown[0].value == r"- **Re\*s\*ults\, page 4**: Mixed \<b\>\."


def test_a_sample_opens_with_its_hypothesis_marked_synthetic_and_nothing_is_scored(
    open_page: OpenPage,
) -> None:
    app = open_page("paper", r="bm25").press("**Cluster")
    assert app.address["paper"] == "sample_trial"
    assert "The paper is synthetic" in app.words
    assert app.text_area[0].value.startswith("Replacing regular salt")
    assert "10 sentences picked by bm25" in app.words
    app = open_page("paper", paper="sample_trial", r="bm25~oracle")
    assert "nothing is scored" in app.words
    assert "Aspect Recall" not in app.words
    assert "picked by oracle" not in app.words
    assert "synthetic" in open_page("paper", **TRIAL, present="1").words


def test_retrievers_are_compared(open_page: OpenPage) -> None:
    app = open_page("paper", paper="sample_trial", r="bm25~lead~abstract-tail", k="5", system="1")
    assert "5 sentences picked by lead" in app.words
    # lead picks sentences 0 to 4; the abstract has 14, from its last: 13 to 9
    assert "All three picked 0 of" in app.words


def test_the_opposite_is_asked_and_compared(open_page: OpenPage, kept: str) -> None:
    app = open_page("paper", paper=kept, r="bm25", k="3").press("opposite\\, by rule")
    assert app.address["h"] == "A salt substitute raises systolic blood pressure."
    assert app.address["h0"] == HYPOTHESIS
    assert "What the other wording changed" in app.words
    assert {"h", "h0"}.isdisjoint(app.press("Back to the wording before").address)


@pytest.mark.usefixtures("own_places")
def test_a_model_is_asked_on_a_click_only_and_says_why(open_page: OpenPage, kept: str) -> None:
    with scripted(reply("2: it is <b>the</b> result\nDECISION: [2]")) as server:
        app = open_page("paper", {"llm.server": server.url}, paper=kept, k="3", r="llm;model=tiny")
        assert "would send the paper's sentences to the server" in app.words
        assert "has not answered this yet" in app.words
        assert not server.requests
        app.ask()
        assert "1 sentence picked by llm model=tiny" in app.words
        assert "You asked for 3; it gave what it found" in app.words
        assert len(server.requests) == 1
        assert "salt substitute" in str(server.requests[0])


def printed() -> bytes:
    """A PDF of one page and ten sentences."""
    lines = b" ".join(b"(Salt sentence number %d is printed here.) Tj T*" % n for n in range(10))
    return paged({4: stream(b"BT /F1 10 Tf 72 700 Td 14 TL " + lines + b" ET")})


def test_the_pages_of_a_pdf_are_shown_kept_and_followed(open_page: OpenPage, own: OwnPapers) -> None:
    app = uploaded(open_page, "salt.pdf", printed(), "application/pdf", h="Salt number 7").finish()
    assert app.named("button_group", "The paper as").value == "text"
    app.named("button_group", "The paper as").set_value("page")
    assert app.run().address["view"] == "page"
    assert not app.problems
    assert "and its PDF (0.0 MiB)" in app.words
    app.press("Keep")
    (kept,) = own.all()
    assert own.pdf(kept.id) == printed()
    assert "PDF file" in app.named("checkbox", "Delete").label
    app = open_page("paper", paper=str(kept.id), r="bm25", h="Salt").run(view="page", page="99", zoom="7")
    assert not app.problems
    app.named("button_group", "The paper as").set_value("text")
    assert {"view", "page", "zoom"}.intersection(app.run().address) <= {"zoom"}
    app = open_page("paper", paper=str(kept.id), r="bm25", h="Salt").run(view="page", page="1")
    app.named("button_group", "The paper as").set_value("text")
    assert app.run().address["sentence"] == "0"  # the first one of the page that was shown


def test_a_paper_without_pages_has_text_only_and_a_page_that_cannot_be_drawn_says_so(
    open_page: OpenPage, own: OwnPapers, kept: str, paper: Paper
) -> None:
    app = open_page("paper", paper=kept, r="bm25", view="page")
    assert "The paper as" not in app.labels("button_group")
    broken = own.save(paper, "Broken <b>", HYPOTHESIS, b"%PDF-1.4 nothing")
    app = open_page("paper", paper=str(broken.id), r="bm25", view="page")
    assert "'Broken <b>': cannot be read as PDF" in app.problems
    assert "9 sentences picked by bm25" in app.words


# -- several --------------------------------------------------------------------------------------------


FILES = (
    ("salt.txt", TEXT.encode(), "text/plain"),
    ("<b>broken.pdf", b"%PDF-1.4 nothing", "application/pdf"),
    ("sleep.txt", b"Sleep and cats\n\nCats sleep all day. Dogs bark at night.", "text/plain"),
)


def rows(app: App, key: str = "several-found") -> list[dict[str, Any]]:
    (component,) = (one for one in app.get("bidi_component") if key in one.proto.id)
    return list(json.loads(component.proto.json)["rows"])


def several(open_page: OpenPage, place: int = 0, **params: str) -> App:
    app = open_page("paper", r="bm25", **params)
    app.file_uploader[place].set_value(FILES)
    return app.run().finish().finish()


@pytest.mark.parametrize("place", [0, 1], ids=["files", "folder"])
def test_several_uploads_are_asked_together_and_what_cannot_be_read_is_named(
    open_page: OpenPage, own: OwnPapers, place: int
) -> None:
    app = several(open_page, place, h=HYPOTHESIS, k="2")
    assert "One question over 2 papers" in app.words
    assert "Left out, and why: 1" in app.labels("expander")
    assert "'<b>broken.pdf': cannot be read as PDF" in app.words
    assert "Not kept, so this page has no link" in app.words
    assert "words counted over the sentences of all these papers together" in app.words
    found = rows(app)
    headings = [row["cells"][0] for row in found if row["heading"]]
    assert headings == ["1. Salt and blood pressure", "2. Sleep and cats"]
    assert len(found) == 2 * 3
    assert {"Page (HTML)", "CSV"} <= set(app.labels("download_button"))
    assert own.all() == ()
    ref = app.address["over"].split(",")[2]
    opened = app.run(paper=ref, sentence="1")
    assert "# Sleep and cats" in opened.words
    assert "2 sentences picked by bm25" in opened.words
    back = opened.press("All papers")
    assert "One question over 2 papers" in back.words
    assert back.text_area[0].value == HYPOTHESIS
    assert {"over", "paper"}.isdisjoint(back.press("Other papers").address)


def test_without_a_hypothesis_the_papers_are_listed(open_page: OpenPage) -> None:
    app = several(open_page)
    assert "Write a hypothesis above" in app.words
    assert [row["cells"][0] for row in rows(app, "several-papers")] == [
        "Salt and blood pressure",
        "Sleep and cats",
    ]
    app.fill("Hypothesis", "Cats sleep.", "text_area").finish()
    assert rows(app)[0]["cells"][0] == "1. Sleep and cats"


def test_too_many_files_are_refused(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bring, "_MOST_FILES", 2)
    app = several(open_page)
    assert "are 3, and at most 2 are read at once" in app.problems
    assert "over" not in app.address


def test_kept_papers_and_those_of_a_dataset_are_asked_and_have_a_link(
    open_page: OpenPage, own: OwnPapers, paper: Paper, empty_store: Store
) -> None:
    for name in ("One", "Two"):
        own.save(replace(paper, title=f"<i>{name}"), name)
    app = open_page("paper", r="bm25", h=HYPOTHESIS).press("One question over all 2 kept papers").finish()
    assert app.address["over"] == "kept"
    assert [row["cells"][0] for row in rows(app) if row["heading"]] == ["1. <i>Two", "2. <i>One"]
    ingest(empty_store, SAMPLE)
    app = open_page("paper", r="lead", h=HYPOTHESIS, k="1").press("One question over its papers").finish()
    assert "One question over 6 papers of sample_data" in app.words
    assert "scores of lead from different papers cannot be compared" in app.words
    first = next(row["id"] for row in rows(app) if not row["heading"]).rpartition(" ")[0]
    opened = app.run(paper=first)
    assert "The paper is synthetic" in opened.words
    assert "1 sentence picked by lead" in opened.words
    assert "Aspect Recall" not in opened.words


@pytest.mark.parametrize(
    "over", ["dataset:none", "open-0123,open-4567", "dataset:7:x", "<script>,../..", ",,", "a" * 5000]
)
def test_papers_that_are_not_there_say_so_and_there_is_a_way_on(open_page: OpenPage, over: str) -> None:
    app = open_page("paper", over=over, h=HYPOTHESIS, r="bm26")
    assert "None of these papers is here" in app.problems
    assert len(app.press("Other papers").file_uploader) == 2


# -- keeping it -----------------------------------------------------------------------------------------


def test_keeping_gives_a_link_and_renaming_and_removing_work(
    open_page: OpenPage, own: OwnPapers, in_memory: str
) -> None:
    app = open_page("paper", paper=in_memory, r="bm25", h=HYPOTHESIS).press("Keep")
    (kept,) = own.all()
    assert (kept.name, kept.hypothesis) == ("Salt and blood pressure", HYPOTHESIS)
    assert app.address["paper"] == str(kept.id)
    assert "has no link" not in app.words
    app.fill("Name", "Salt again").press("Rename")
    assert own.get(kept.id).name == "Salt again"
    assert app.named("button", "Delete").disabled
    app.named("checkbox", "Delete Salt again, with").check()
    app.run()
    assert "paper" not in app.press("Delete").address
    assert own.all() == ()


def test_a_kept_paper_comes_back_with_its_hypothesis(open_page: OpenPage, kept: str, own: OwnPapers) -> None:
    app = open_page("paper", paper=kept, r="bm25")
    assert app.text_area[0].value == HYPOTHESIS
    app.text_area[0].set_value("Sleep changed.").run()
    app.press("Keep this hypothesis")
    assert own.get(int(kept)).hypothesis == "Sleep changed."


# -- links and papers that mean harm --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"paper": "open-0123"}, "was not kept"),
        ({"paper": "17"}, "not in this store"),
        ({"paper": "../../etc/passwd"}, "not in this store"),
        ({"sentence": "147"}, "the paper has 0 to 146"),
        ({"r": "bm26"}, "bm25"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page: OpenPage, params: dict[str, str], said: str) -> None:
    assert said in open_page("paper", **(TRIAL | params)).problems


@pytest.mark.parametrize("k", ["0", "-3", "many", "100000"])
def test_an_impossible_number_of_sentences_is_none(open_page: OpenPage, k: str) -> None:
    assert 1 <= int(open_page("paper", **TRIAL, k=k).named("number_input", "Sentences (K)").value) <= 100


def test_a_hostile_paper_is_shown_as_text(open_page: OpenPage, own: OwnPapers) -> None:
    sentence = "<script>alert(1)</script> :red[x] $\\sqrt{2}$ [a](http://b.c) \u202e\U0001d4ce" + "x" * 500
    read = read_paper("\n\n".join(["A title", *[f"Words first. {sentence}."] * 50]).encode(), "a.txt")
    kept = own.save(
        replace(read, title="<img src=x onerror=alert(1)> *a*"), "</h1> :red[name]", "<b>salt</b>"
    )
    app = open_page("paper", paper=str(kept.id), r="bm25")
    heading = next(element.value for element in app.markdown if element.value.startswith("# "))
    assert "\\<img src\\=x onerror\\=alert\\(1\\)\\>" in heading
    open_page("paper", r="bm25")  # and is listed


def test_five_thousand_sentences_are_no_trouble(open_page: OpenPage, own: OwnPapers) -> None:
    text = "A title\n\n" + " ".join(f"Salt sentence number {n} is here." for n in range(4990))
    paper = read_paper(text.encode(), "long.txt")
    app = open_page("paper", paper=str(own.save(paper).id), r="bm25", h="Salt sentence 4000")
    assert f"{len(paper.sentences):,} sentences" in app.words
    assert "10 sentences picked by bm25" in app.words


# -- showing it to somebody -----------------------------------------------------------------------------


def test_presenter_mode_has_plain_words_and_no_settings(open_page: OpenPage, kept: str) -> None:
    app = open_page("paper", paper=kept, present="1", r="bm25", k="4")
    words = "\n".join([app.words, *app.labels()])
    assert "The 4 sentences to read first" in words
    assert "no medical advice" in words
    for jargon in ("Recall", "bm25", "K =", "retriever", "Settings"):
        assert jargon not in words
    assert app.labels("slider") == ["Sentences to show"]
    assert app.text_area[0].value == HYPOTHESIS
    app.text_area[0].set_value("Sleep changed.").run()
    assert app.address["h"] == "Sleep changed."


def test_presenting_without_a_question_asks_for_one(open_page: OpenPage, in_memory: str) -> None:
    app = open_page("paper", paper=in_memory, present="1", r="bm25")
    assert "Type a statement above" in app.words
    assert "no medical advice" in app.words
