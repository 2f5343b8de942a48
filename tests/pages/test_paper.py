"""Your paper: brought, read, searched, kept, presented."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest
from streamlit.testing.v1 import AppTest

from components.app import resources
from components.paper.corrections import with_title
from components.paper.opened import OpenPaper, new_ref
from evidencebench_core.data import Store
from evidencebench_core.papers import Doubt, Paper, read_paper
from evidencebench_core.papers.own import OwnPapers
from tests.llm.server import reply, scripted
from tests.pages.conftest import OpenPage, address, press, texts
from tests.pages.waiting import jobs_ended
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


def after_jobs(app: AppTest) -> str:
    """Wait for the app's jobs; everything that it then says."""
    jobs_ended()
    app.run()
    return texts(app)


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


@pytest.fixture
def paper() -> Paper:
    return read_paper(TEXT.encode(), "salt.txt")


@pytest.fixture
def kept(empty_store: Store, paper: Paper) -> str:
    """The id of a kept paper."""
    return str(OwnPapers(empty_store).save(paper, "Salt", HYPOTHESIS).id)


@pytest.fixture
def in_memory(paper: Paper) -> str:
    """The ref of a paper that is open and not kept."""
    ref = new_ref()
    resources.open_papers().put(OpenPaper(ref, paper, "salt.txt"))
    return ref


def test_the_empty_page_says_what_it_takes_and_how_much(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("paper", r="bm25")
    (upload,) = app.file_uploader
    assert "up to 25 MiB" in upload.label
    assert [tab.label for tab in app.tabs] == ["Upload", "Paste text", "Europe PMC", "Sample"]
    assert "Nothing is kept before you keep it" in texts(app)
    assert "Kept papers" not in texts(app)
    monkeypatch.setenv("EVIDENCEBENCH_PAPER_MIB", "3")
    assert "up to 3 MiB" in open_page("paper", r="bm25").file_uploader[0].label


def test_an_upload_is_read_searched_and_not_kept(open_page: OpenPage, empty_store: Store) -> None:
    app = open_page("paper", r="bm25", h=HYPOTHESIS)
    app.file_uploader[0].upload("..\\..\\evil/salt.txt", TEXT.encode(), "text/plain").run()
    said = after_jobs(app)
    assert "## Salt and blood pressure" in said
    # 1 title, 2 of the abstract, 2 headings with 2 sentences each
    assert "9 sentences · 3 headings among them · 2 in the abstract · read from text in" in said
    assert "9 sentences picked by bm25" in said  # it asked for 10 of 9
    assert address(app)["paper"].startswith("open-")
    assert address(app)["h"] == HYPOTHESIS
    assert "Not kept yet, so it has no link" in said
    assert OwnPapers(empty_store).all() == ()


def test_pasted_text_is_read(open_page: OpenPage) -> None:
    app = open_page("paper", r="bm25")
    next(area for area in app.text_area if area.label == "Text of the paper").set_value(TEXT).run()
    press(app, "Read the text")
    said = after_jobs(app)
    assert "## Salt and blood pressure" in said
    assert "Write a hypothesis above" in said


def test_a_file_that_cannot_be_read_says_why_and_stays_where_it_was(open_page: OpenPage) -> None:
    app = open_page("paper", r="bm25")
    app.file_uploader[0].upload("<b>x.pdf", b"%PDF-1.4 nothing", "application/pdf").run()
    after_jobs(app)
    (error,) = app.error
    assert "\\<b\\>x\\.pdf" in error.value
    assert not app.exception
    assert len(app.file_uploader) == 1
    assert "paper" not in address(app)


def fetching(open_page: OpenPage, reference: str) -> AppTest:
    app = open_page("paper", r="bm25", h="Tea is hot.")
    next(one for one in app.text_input if one.label.startswith("PMC id")).set_value(reference).run()
    press(app, "Fetch it")
    return app


def test_a_reference_that_is_none_and_a_lack_of_internet_are_reported(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is no PMC id\\, PubMed id or DOI" in fetching(open_page, "no such thing").error[0].value
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", "http://127.0.0.1:9/none")  # nobody listens there
    app = fetching(open_page, "PMC2785062")
    after_jobs(app)
    assert "cannot be reached" in app.error[0].value
    assert "give the paper as a file" in app.error[0].value


def test_a_paper_is_fetched_and_read(
    open_page: OpenPage, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", service.base)
    said = after_jobs(fetching(open_page, "10.1000/xyz123"))
    assert "PMC34 from Europe PMC" in said
    assert "1 sentence picked by bm25" in said


def test_a_fetch_that_waits_can_be_left(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection and never answers
        monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", f"http://127.0.0.1:{silent.getsockname()[1]}/none")
        app = fetching(open_page, "PMC2785062")
        assert "Fetching PMC2785062" in texts(app)
        press(app, "Cancel")
        app.run()
        assert "Reading was cancelled" in texts(app)
        assert len(app.file_uploader) == 1
    assert "Reading was cancelled" in after_jobs(app)


def test_a_cancel_ends_the_reading_process_and_the_page_is_back(open_page: OpenPage) -> None:
    def readers() -> list[psutil.Process]:
        alive = []
        for child in psutil.Process().children():
            with suppress(psutil.Error):  # it has just ended
                if "papers.worker" in " ".join(child.cmdline()):
                    alive.append(child)
        return alive

    slow = b"Tea " + b"( " * 400_000  # the splitter takes more than linear time for this
    app = open_page("paper", r="bm25")
    app.file_uploader[0].upload("slow.txt", slow, "text/plain").run()
    assert "Reading slow\\.txt" in texts(app)
    assert len(app.file_uploader) == 0
    tick = threading.Event()
    for _ in range(2000):  # the job's thread starts it
        if readers() or tick.wait(0.01):
            break
    assert len(readers()) == 1
    press(app, "Cancel")
    assert "Reading was cancelled" in after_jobs(app)
    assert len(app.file_uploader) == 1
    assert psutil.wait_procs(readers(), timeout=10)[1] == []  # none is still alive


def test_doubts_about_the_text_are_listed_by_section(open_page: OpenPage, paper: Paper) -> None:
    ref = new_ref()
    doubtful = replace(paper, doubts=(Doubt("Re*s*ults", 4, "columns", "Mixed <b>."),))
    resources.open_papers().put(OpenPaper(ref, doubtful, "salt.pdf"))
    app = open_page("paper", paper=ref, r="bm25")
    (listed,) = [box for box in app.expander if box.label == "Text to check against the PDF: 1 place"]
    assert listed.markdown[0].value == r"- **Re\*s\*ults\, page 4**: Mixed \<b\>\."


def test_a_sample_opens_with_its_hypothesis_marked_synthetic_and_nothing_is_scored(
    open_page: OpenPage,
) -> None:
    app = open_page("paper", r="bm25")
    press(app, "**Cluster")
    assert address(app)["paper"] == "sample_trial"
    assert "The paper is synthetic" in texts(app)
    assert app.text_area[0].value.startswith("Replacing regular salt")
    assert "10 sentences picked by bm25" in texts(app)
    app = open_page("paper", paper="sample_trial", r="bm25~oracle")
    assert "Aspect Recall" not in texts(app)
    assert "picked by oracle" not in texts(app)
    assert "nothing is scored" in texts(app)


def test_retrievers_are_compared(open_page: OpenPage) -> None:
    app = open_page("paper", paper="sample_trial", r="bm25~lead~abstract-tail", k="5", system="1")
    said = texts(app)
    assert "5 sentences picked by lead" in said
    assert "How far they agree" in said
    # lead picks sentences 0 to 4; the abstract has 14, from its last: 13 to 9
    assert "All three picked 0 of" in said


def test_the_opposite_is_asked_and_compared(open_page: OpenPage, kept: str) -> None:
    app = open_page("paper", paper=kept, r="bm25", k="3")
    press(app, "opposite\\, by rule")
    assert address(app)["h"] == "A salt substitute raises systolic blood pressure."
    assert address(app)["h0"] == HYPOTHESIS
    assert "What the other wording changed" in texts(app)
    press(app, "Back to the wording before")
    assert {"h", "h0"}.isdisjoint(address(app))


def test_keeping_gives_a_link_and_renaming_and_removing_work(
    open_page: OpenPage, empty_store: Store, in_memory: str
) -> None:
    own = OwnPapers(empty_store)
    app = open_page("paper", paper=in_memory, r="bm25", h=HYPOTHESIS)
    press(app, "Keep")
    (kept,) = own.all()
    assert (kept.name, kept.hypothesis) == ("Salt and blood pressure", HYPOTHESIS)
    assert address(app)["paper"] == str(kept.id)
    assert "has no link" not in texts(app)
    next(text for text in app.text_input if text.label == "Name").set_value("Salt again").run()
    press(app, "Rename")
    assert own.get(kept.id).name == "Salt again"
    assert "Remove this paper" not in labels(app)
    app.checkbox[0].check().run()
    press(app, "Remove this paper")
    assert own.all() == ()
    assert "paper" not in address(app)


def test_a_kept_paper_comes_back_with_its_hypothesis(open_page: OpenPage, kept: str) -> None:
    app = open_page("paper", paper=kept, r="bm25")
    assert app.text_area[0].value == HYPOTHESIS
    assert "Correct" not in [p.label for p in app.get("popover") if hasattr(p, "label")]
    app.text_area[0].set_value("Sleep changed.").run()
    press(app, "Keep this hypothesis")
    assert resources.own_papers().get(int(kept)).hypothesis == "Sleep changed."


def test_a_wrong_title_is_corrected(open_page: OpenPage, in_memory: str) -> None:
    app = open_page("paper", paper=in_memory, r="bm25")
    next(text for text in app.text_input if text.label == "Title").set_value("Another title").run()
    press(app, "Set the title")
    assert "## Another title" in texts(app)
    opened = resources.open_papers().get(in_memory)
    assert opened is not None
    assert opened.paper.sentences[0] == "Another title"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"paper": "open-0123"}, "was not kept"),
        ({"paper": "17"}, "not in this store"),
        ({"paper": "../../etc/passwd"}, "not in this store"),
        ({"paper": "sample_trial", "sentence": "147"}, "the paper has 0 to 146"),
        ({"paper": "sample_trial", "r": "bm26"}, "bm25"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page: OpenPage, params: dict[str, str], said: str) -> None:
    app = open_page("paper", **{"r": "bm25", **params})
    assert said in "\n".join(str(e.value) for kind in ("warning", "error") for e in app.get(kind))
    assert not app.exception


@pytest.mark.parametrize("k", ["0", "-3", "many", "100000"])
def test_an_impossible_number_of_sentences_is_none(open_page: OpenPage, k: str) -> None:
    app = open_page("paper", paper="sample_trial", r="bm25", k=k)
    (field,) = [number for number in app.number_input if number.label == "Sentences (K)"]
    assert 1 <= int(field.value) <= 100


def test_a_hostile_paper_is_shown_as_text(open_page: OpenPage, empty_store: Store) -> None:
    sentence = "<script>alert(1)</script> :red[x] $\\sqrt{2}$ [a](http://b.c) \u202e\U0001d4ce" + "x" * 500
    read = read_paper("\n\n".join(["A title", *[f"Words first. {sentence}."] * 50]).encode(), "a.txt")
    paper = with_title(read, "<img src=x onerror=alert(1)> *a*")
    kept = OwnPapers(empty_store).save(paper, "</h1> :red[name]", "<b>salt</b>")
    app = open_page("paper", paper=str(kept.id), r="bm25")
    heading = next(element.value for element in app.markdown if element.value.startswith("## "))
    assert "\\<img src\\=x onerror\\=alert\\(1\\)\\>" in heading
    listed = open_page("paper", r="bm25")
    assert not listed.exception


def test_five_thousand_sentences_are_no_trouble(open_page: OpenPage, empty_store: Store) -> None:
    text = "A title\n\n" + " ".join(f"Salt sentence number {n} is here." for n in range(4990))
    paper = read_paper(text.encode(), "long.txt")
    kept = OwnPapers(empty_store).save(paper)
    app = open_page("paper", paper=str(kept.id), r="bm25", h="Salt sentence 4000")
    assert f"{len(paper.sentences):,} sentences" in texts(app)
    assert "10 sentences picked by bm25" in texts(app)


def test_presenter_mode_has_plain_words_and_no_settings(open_page: OpenPage, kept: str) -> None:
    app = open_page("paper", paper=kept, present="1", r="bm25", k="4")
    said = texts(app) + "\n".join(labels(app))
    assert "The 4 sentences to read first" in said
    assert "no medical advice" in said
    assert "by the words that they share with the statement" in said
    for jargon in ("Recall", "bm25", "K =", "retriever", "Settings"):
        assert jargon not in said
    assert [slider.label for slider in app.slider] == ["Sentences to show"]
    assert app.text_area[0].value == HYPOTHESIS
    app.text_area[0].set_value("Sleep changed.").run()
    assert address(app)["h"] == "Sleep changed."
    press(app, "Leave presenter mode")
    assert "present" not in address(app)
    assert address(app)["h"] == "Sleep changed."


def test_presenting_without_a_question_asks_for_one(open_page: OpenPage, in_memory: str) -> None:
    app = open_page("paper", paper=in_memory, present="1", r="bm25")
    assert "Type a statement above" in texts(app)
    assert "no medical advice" in texts(app)


@pytest.mark.usefixtures("own_places")
def test_a_model_is_asked_on_a_click_only_and_says_why(open_page: OpenPage, kept: str) -> None:
    answer = "2: it is <b>the</b> result\nDECISION: [2]"
    with scripted(reply(answer)) as server:
        app = open_page("paper", paper=kept, r="bm25", k="3")
        app.session_state["kept.llm.server"] = server.url
        app.query_params["r"] = "llm;model=tiny"
        app.run()
        said = texts(app)
        assert "would send the paper's sentences to the server" in said
        assert "has not answered this yet" in said
        assert not server.requests
        press(app, "Ask the model")
        after_jobs(app)
        assert "1 sentence picked by llm model\\=tiny" in texts(app)
        assert "You asked for 3; it gave what it found" in texts(app)
        assert len(server.requests) == 1
        assert "salt substitute" in str(server.requests[0])


def test_a_very_long_hypothesis_in_a_link_is_cut(open_page: OpenPage) -> None:
    for more in ({}, {"paper": "sample_trial"}, {"paper": "sample_trial", "present": "1"}):
        app = open_page("paper", r="bm25", h="salt " * 1000, **more)
        assert not app.error
