"""Your paper: brought, read, searched beyond the abstract, kept, presented."""

from typing import Any

import pytest

from evidencebench_core.data import Store
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.read import paper_of_file
from tests.answers import tea
from tests.llm.server import answering, scripted
from tests.pages.app import App, OpenPage, with_server

pytestmark = pytest.mark.usefixtures("empty_store", "hashing_encoder")

TEXT = """Salt and blood pressure

Abstract
We tested a salt substitute in care homes. Blood pressure fell by 4.9 mmHg.

1. Introduction
Salt raises blood pressure. Kitchens season the food of residents.

2. Results
Systolic pressure was lower with the salt substitute. Sleep did not change.
"""
HYPOTHESIS = "A salt substitute lowers systolic blood pressure."


@pytest.fixture
def own(empty_store: Store) -> OwnPapers:
    return OwnPapers(empty_store)


def uploaded(open_page: OpenPage, *files: tuple[str, bytes], **params: str) -> App:
    app = open_page("paper", r="bm25", **params)
    app.file_uploader[0].set_value([(name, content, "text/plain") for name, content in files]).run()
    return app.finish()


def test_several_uploads_are_a_table_and_what_cannot_be_read_is_named(open_page: OpenPage) -> None:
    tea, bad = ("tea.txt", b"Tea\n\nTea is hot. It was drunk."), ("bad.pdf", b"%PDF-")
    app = uploaded(open_page, ("salt.txt", TEXT.encode()), tea, bad)
    assert app.address["over"].count(",") == 1
    assert "bad.pdf" in app.words
    assert "cannot be read as PDF" in app.words
    assert "One question over 2 papers" in app.words


def test_pasted_text_is_read_and_an_id_is_no_path(open_page: OpenPage) -> None:
    app = open_page("paper")
    assert app.fill("PMC id", "CONTRIBUTING.md").press("Fetch it").problems
    app.fill("Text of the paper", TEXT, "text_area").press("Read the text").finish()
    assert app.address["paper"].startswith("open-")


def test_an_upload_is_searched_kept_renamed_and_removed(open_page: OpenPage, own: OwnPapers) -> None:
    app = uploaded(open_page, ("salt.txt", TEXT.encode()), h=HYPOTHESIS).finish()
    assert app.address["paper"].startswith("open-")
    assert "to read first" in app.words
    assert own.all() == ()
    app.press("Keep this paper")
    (paper,) = own.all()
    assert app.address["paper"] == str(paper.id)
    app = open_page("paper", paper=str(paper.id), r="dense").finish()
    assert app.text_area[0].value == HYPOTHESIS
    app.fill("Statement", "Quantum computers factor integers.", "text_area").finish()
    assert "may say nothing on it" in app.words
    app.press("Keep this statement").fill("Name", "Better").press("Rename")
    assert own.get(paper.id).hypothesis == "Quantum computers factor integers."
    assert own.get(paper.id).name == "Better"
    app.checkbox(key=f"sure.{paper.id}").check().run()
    app.press("Delete")
    assert own.all() == ()


def shown(app: App) -> dict[str, Any]:
    """What the list of findings was given to draw."""
    (data,) = [data for data in app.component_data if "passages" in data]
    return data


def test_a_model_is_asked_on_a_click_and_what_it_said_is_kept(open_page: OpenPage, own: OwnPapers) -> None:
    ref = str(own.save(paper_of_file(tea.TEXT.encode(), "tea.txt"), "Tea", tea.HYPOTHESIS).id)
    with scripted(answering(tea.model)) as server:
        app = open_page("paper", with_server(server.url), paper=ref, r="bm25").finish()
        assert "tokens, price unknown" in app.named("button", "What does this paper say").label
        assert not server.requests
        app.ask("What does this paper say").ask("For or against")
        assert "1 could not be read" in app.words
        n_asked = len(server.requests)
        again = open_page("paper", with_server(server.url), paper=ref, r="bm25", present="1").finish()
        assert len(server.requests) == n_asked
    first = shown(again)["answer"]["sentences"][0]
    assert (first["text"], first["unknown"]) == ("It <b>lowers</b> *pressure*.", [999])
    assert shown(again)["cited"] == {"3": "Tea lowers pressure.", "4": "Tea raises pressure."}
    sentences = [sentence for passage in shown(again)["passages"] for sentence in passage["sentences"]]
    assert {sentence["stance"] for sentence in sentences} == {"supports", "against", "neither", ""}
