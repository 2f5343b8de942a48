"""Mark evidence: marking, undoing, several annotators, the comparison, and what is saved."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import CONSENSUS, Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import MARKED_BY_HAND, Store, connection, ingest
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPaper, OwnPapers
from tests.factories import tiny_dataset, written
from tests.pages.app import App, OpenPage

TEXT = b"# Tea\n\n## Results\n\nPressure fell by 3 mmHg. It fell in women too. Nobody died. Sleep was the same.\n"


@pytest.fixture
def own(empty_store: Store) -> OwnPaper:
    """A kept paper: sentences 0 and 1 are headings, 2 to 5 its text."""
    return OwnPapers(empty_store).save(read_paper(TEXT, "tea.md"), "Tea", "Tea lowers pressure.")


class Desk:
    """The annotations of that paper."""

    def __init__(self, store: Store, own: OwnPaper) -> None:
        self.annotations, self.own = Annotations(store), own

    def save(self, who: str, **marks: list[int]) -> None:
        made = Annotation(who, self.own.hypothesis, self.own.n_sentences)
        for text, indices in marks.items():
            made = made.add_aspect(text, sentences=indices)
        self.annotations.save(self.own.key, made)

    def marks(self, who: str = "Ada") -> dict[str, tuple[int, ...]]:
        annotation = self.annotations.latest(self.own.key, who).annotation
        return {aspect.text: aspect.sentences for aspect in annotation.aspects} if annotation else {}


@pytest.fixture
def desk(empty_store: Store, own: OwnPaper) -> Desk:
    return Desk(empty_store, own)


@pytest.fixture
def opened(open_page: OpenPage, own: OwnPaper) -> OpenPage:
    """Open the page at that paper, for Ada unless told otherwise."""

    def open_paper(annotator: str = "Ada", **params: str) -> App:
        who = {"annotator": annotator} if annotator else {}
        return open_page("annotate", **{"paper": str(own.id), **who, **params})

    return open_paper


def test_an_empty_store_is_told_what_the_page_is_for(empty_store: Store, open_page: OpenPage) -> None:
    app = open_page("annotate")
    assert "write the study aspects" in app.words
    assert {"Bring a paper", "Go to Home"} <= set(app.labels())


def test_a_paper_asks_first_who_marks_and_nobody_may_be_called_gold(opened: OpenPage) -> None:
    app = opened("gold")
    assert "cannot be changed" in app.words
    assert "is no person's" in opened("model:m").words
    assert "Who marks?" in app.words
    assert "initials will do" in app.press("Start marking").words
    app.text_input(key="who-name-start").input("  Ada ")
    assert app.press("Start marking").address["annotator"] == "Ada"
    assert "A study aspect is one thing" in app.words


def test_write_mark_undo_redo(opened: OpenPage, desk: Desk) -> None:
    app = opened(sentence="2")
    for number, text in enumerate(("Pressure fell", "Nobody died")):
        app.text_input(key=f"new-aspect-text.{number}").input(text)
        app.press("Add aspect")
    assert "0 of 2 aspects have a sentence" in app.words
    app.button_group[0].set_value(["aspect_0"]).run()
    without, marked = {"Pressure fell": (), "Nobody died": ()}, {"Pressure fell": (2,), "Nobody died": ()}
    assert desk.marks() == marked
    assert "1 of 2 aspects have a sentence; 1 of 6 sentences marked. Without one: A2" in app.words
    app.press("Undo")
    assert desk.marks() == without
    app.press("Redo")
    assert desk.marks() == marked
    app.button_group[0].set_value([]).run()
    assert desk.marks() == without


def test_a_save_that_fails_says_so_and_keeps_what_was_typed(
    opened: OpenPage, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.save("Ada", One=[2])
    app = opened(sentence="3", aspect="aspect_0")
    monkeypatch.setattr(connection, "_WAIT", 0.05)
    desk.annotations.store.close()
    with closing(sqlite3.connect(desk.annotations.store.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        app.text_input(key="new-aspect-text.0").input("Nobody died")
        app.press("Add aspect")
        assert "Not saved." in app.words
        assert app.text_input(key="new-aspect-text.0").value == "Nobody died"
        app.fill("A1 says", "Pressure fell")
        assert "Not saved." in app.words
        assert "Pressure fell" in [field.value for field in app.text_input]
    app.press("Add aspect")
    assert desk.marks() == {"One": (2,), "Nobody died": ()}


def test_aspects_are_renamed_moved_removed_and_the_hypothesis_changed(opened: OpenPage, desk: Desk) -> None:
    desk.save("Ada", One=[2], Two=[3])
    app = opened(aspect="aspect_1").fill("A2 says", "Second")
    assert desk.marks() == {"One": (2,), "Second": (3,)}
    app.press("Remove")
    assert desk.marks() == {"One": (2,)}
    app.press("Undo")
    assert desk.marks() == {"One": (2,), "Second": (3,)}
    app.text_area[0].input("Tea helps women.").run()
    assert desk.annotations.latest(desk.own.key, "Ada").annotation.hypothesis == "Tea helps women."


def test_others_are_hidden_unless_asked_and_share_their_aspects(opened: OpenPage, desk: Desk) -> None:
    desk.save("Ben", Pressure=[2])
    app = opened()
    assert "others" not in app.address
    app.press("Start from the aspect of Ben, without the marks")
    assert desk.marks() == {"Pressure": ()}
    app.named("toggle", "Show what Ben marked").set_value(True).run()
    assert app.address["others"] == "1"


@pytest.mark.parametrize("paper", ["77", "own:x", "instance:abc:1", "nothing"])
def test_a_paper_that_is_not_there_is_said(opened: OpenPage, paper: str) -> None:
    app = opened("", paper=paper)
    assert "not in the store" in app.words
    assert "Or an instance of a dataset" in app.press("All papers").words


def test_what_is_incomplete_cannot_be_saved_and_says_why(opened: OpenPage, desk: Desk) -> None:
    desk.save("Ada", One=[2], Two=[])
    app = opened(sentence="99")
    assert "the paper has 0 to 5" in app.words
    assert "It still lacks a sentence for 1 aspect." in app.words
    assert app.get("download_button")[0].proto.disabled


def test_the_whole_becomes_a_dataset_that_browse_opens(
    opened: OpenPage, desk: Desk, empty_store: Store
) -> None:
    desk.save("Ada", One=[2, 3], Two=[3])
    app = opened()
    assert "Complete" in app.words
    assert not app.get("download_button")[0].proto.disabled
    app.text_input(key=f"instance-id.{desk.own.key}").input("tea_1").run()
    app.button(key="add-dataset").click()
    assert app.run().address["instance"] == "tea_1"
    assert "1 of 1" in app.words
    assert empty_store.dataset("Marked by hand").source == MARKED_BY_HAND
    instance = empty_store.get("Marked by hand", "tea_1")
    assert [aspect.sentence_indices for aspect in instance.evidence.aspects] == [(2, 3), (3,)]
    assert instance.evidence.optimal == 1  # sentence 3 covers both
    assert instance.hypothesis == "Tea lowers pressure."


def test_an_instance_is_marked_with_its_gold_hidden(sample_store: Store, open_page: OpenPage) -> None:
    key = instance_key(sample_store.dataset("sample_data"), "sample_trial")
    app = open_page("annotate", paper=key, annotator="Ada")
    gold = sample_store.get("sample_data", "sample_trial").evidence.aspects
    assert str(gold[0].text) not in app.words
    app.press(f"Start from the {len(gold)} aspects of gold, without the marks")
    begun = Annotations(sample_store).latest(key, "Ada").annotation
    assert [aspect.text for aspect in begun.aspects] == [aspect.text for aspect in gold]
    assert begun.uncovered == begun.aspects


def test_gold_without_words_is_no_list_to_start_from(
    empty_store: Store, tmp_path: Path, open_page: OpenPage
) -> None:
    dataset = ingest(empty_store, written(tiny_dataset(), tmp_path / "tiny.json")).dataset
    app = open_page("annotate", paper=instance_key(dataset, "tiny_0"), annotator="Ada")
    assert "gives its aspects no words" in app.words
    assert not [label for label in app.labels() if label.startswith("Start from")]


def test_a_comparison_needs_two(opened: OpenPage, desk: Desk) -> None:
    desk.save("Ada", One=[2])
    app = opened("", view="compare")
    assert "Only Ada has written aspects" in app.words
    assert "Who marks?" in app.press("Back to marking").words
    desk.save("Ben", Other=[2])
    app = opened("", view="compare", a="Ben", b="Ada")
    assert "6 judgements by sentence, headings included. The annotations share no aspect" in app.words


def test_two_are_compared_and_make_a_consensus(opened: OpenPage, desk: Desk) -> None:
    desk.save("Ada", One=[2], Two=[3])
    desk.save("Ben", One=[2, 4], Two=[5], Three=[1])
    app = opened("", view="compare")
    assert "2 aspects stand in both annotations" in app.words
    assert "4 in all: 1 by Ada alone and 3 by Ben alone. 1 of them is an aspect" in app.words
    app.press("Begin the consensus")
    assert desk.marks(CONSENSUS) == {"One": (2, 4), "Two": (3, 5), "Three": (1,)}
    assert "1 of 4: Sentence 4" in app.words
    assert app.address["sentence"] == "4"
    app.press("Accept Ada: leave it out")
    assert desk.marks(CONSENSUS)["One"] == (2,)
    assert "2 of 4: Sentence 3" in app.words
    assert app.address["sentence"] == "3"
    app.press("Accept all of Ben")
    assert desk.marks(CONSENSUS) == desk.marks("Ben")
    app.press("Undo")
    assert desk.marks(CONSENSUS)["Two"] == (3, 5)
    app.press("Accept Ben").press("Accept Ben")
    assert "4 of 4: This aspect" in app.words
    assert app.address["sentence"] == "1"
    assert app.press("Open the consensus").address["annotator"] == CONSENSUS
    assert "3 of 3 aspects have a sentence" in app.words
