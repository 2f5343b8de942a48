"""Mark evidence: marking, undoing, several annotators, the comparison, and what is saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evidencebench_core.data import Store, ingest
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.consensus import CONSENSUS
from evidencebench_core.papers.marked import instance_key
from evidencebench_core.papers.own import OwnPaper, OwnPapers
from tests.factories import tiny_dataset, written
from tests.pages.conftest import OpenPage, address, texts

TEXT = b"# Tea\n\n## Results\n\nPressure fell by 3 mmHg. It fell in women too. Nobody died. Sleep was the same.\n"


@pytest.fixture
def own(empty_store: Store) -> OwnPaper:
    """A kept paper: sentences 0 and 1 are headings, 2 to 5 its text."""
    return OwnPapers(empty_store).save(read_paper(TEXT, "tea.md"), "Tea", "Tea lowers pressure.")


def annotation(who: str, own: OwnPaper, marks: dict[str, list[int]]) -> Annotation:
    made = Annotation(who, own.hypothesis, own.n_sentences)
    for number, (text, indices) in enumerate(marks.items()):
        made = mark(add_aspect(made, text), f"aspect_{number}", indices)
    return made


def standing(store: Store, own: OwnPaper, who: str = "Ada") -> dict[str, tuple[int, ...]]:
    found = Annotations(store).latest(own.key, who).annotation
    return {} if found is None else {aspect.text: aspect.sentences for aspect in found.aspects}


def button(app: AppTest, label: str):
    found = [one for one in app.button if one.label == label]
    assert len(found) == 1, [one.label for one in app.button]
    return found[0]


def write_aspect(app: AppTest, text: str, is_result: bool = False) -> AppTest:
    app.text_input(key="new-aspect-text").input(text)
    if is_result:
        app.checkbox(key="new-aspect-result").check()
    return button(app, "Add aspect").click().run()


def test_an_empty_store_is_told_what_the_page_is_for(empty_store: Store, open_page: OpenPage) -> None:
    app = open_page("annotate")
    assert "write the study aspects" in texts(app)
    assert {"Bring a paper", "Go to Home"} <= {one.label for one in app.button}


def test_a_paper_asks_first_who_marks(own: OwnPaper, open_page: OpenPage) -> None:
    app = open_page("annotate", paper=str(own.id))
    assert "Who marks?" in texts(app)
    button(app, "Start marking").click().run()
    assert "initials will do" in texts(app)
    app.text_input(key="who-name-start").input("  Ada ")
    button(app, "Start marking").click().run()
    assert address(app)["annotator"] == "Ada"
    assert "A study aspect is one thing" in texts(app)


def test_write_mark_undo_redo(empty_store: Store, own: OwnPaper, open_page: OpenPage) -> None:
    app = open_page("annotate", paper=str(own.id), annotator="Ada", sentence="2")
    write_aspect(app, "Pressure fell", is_result=True)
    write_aspect(app, "Nobody died")
    assert "0 of 2 aspects have a sentence" in texts(app)
    app.button_group[0].set_value(["aspect_0"]).run()
    assert standing(empty_store, own) == {"Pressure fell": (2,), "Nobody died": ()}
    assert "1 of 2 aspects have a sentence; 1 of 6 sentences marked. Without one: A2" in texts(app)
    button(app, "Undo").click().run()
    assert standing(empty_store, own) == {"Pressure fell": (), "Nobody died": ()}
    button(app, "Redo").click().run()
    assert standing(empty_store, own) == {"Pressure fell": (2,), "Nobody died": ()}
    app.button_group[0].set_value([]).run()
    assert standing(empty_store, own)["Pressure fell"] == ()
    assert not app.exception


def test_aspects_are_renamed_moved_removed_and_the_hypothesis_changed(
    empty_store: Store, own: OwnPaper, open_page: OpenPage
) -> None:
    Annotations(empty_store).save(own.key, annotation("Ada", own, {"One": [2], "Two": [3]}))
    app = open_page("annotate", paper=str(own.id), annotator="Ada", aspect="aspect_1")
    next(one for one in app.text_input if one.label == "A2 says").input("Second").run()
    assert standing(empty_store, own) == {"One": (2,), "Second": (3,)}
    button(app, "Up").click().run()
    assert list(standing(empty_store, own)) == ["Second", "One"]
    assert button(app, "Up").disabled
    button(app, "Remove").click().run()
    assert standing(empty_store, own) == {"One": (2,)}
    button(app, "Undo").click().run()
    assert standing(empty_store, own) == {"Second": (3,), "One": (2,)}
    app.text_area[0].input("Tea helps women.").run()
    kept = Annotations(empty_store).latest(own.key, "Ada").annotation
    assert kept is not None
    assert kept.hypothesis == "Tea helps women."


def test_others_are_hidden_unless_asked_and_share_their_aspects(
    empty_store: Store, own: OwnPaper, open_page: OpenPage
) -> None:
    Annotations(empty_store).save(own.key, annotation("Ben", own, {"Pressure fell": [2]}))
    app = open_page("annotate", paper=str(own.id), annotator="Ada")
    assert "Show what Ben marked" in [one.label for one in app.toggle]
    assert address(app).get("others") is None
    button(app, "Start from the aspect of Ben, without the marks").click().run()
    assert standing(empty_store, own) == {"Pressure fell": ()}
    next(one for one in app.toggle if one.label.startswith("Show")).set_value(True).run()
    assert address(app)["others"] == "1"
    assert not app.exception


def test_nobody_may_be_called_gold(own: OwnPaper, open_page: OpenPage) -> None:
    app = open_page("annotate", paper=str(own.id), annotator="gold")
    assert "cannot be changed" in texts(app)
    assert "Who marks?" in texts(app)


@pytest.mark.parametrize("paper", ["77", "own:x", "instance:abc:1", "nothing"])
def test_a_paper_that_is_not_there_is_said(own: OwnPaper, open_page: OpenPage, paper: str) -> None:
    app = open_page("annotate", paper=paper)
    assert "not in the store" in texts(app)
    button(app, "All papers").click().run()
    assert "Or an instance of a dataset" in texts(app)


def test_what_is_incomplete_cannot_be_saved_and_says_why(
    empty_store: Store, own: OwnPaper, open_page: OpenPage
) -> None:
    Annotations(empty_store).save(own.key, annotation("Ada", own, {"One": [2], "Two": []}))
    app = open_page("annotate", paper=str(own.id), annotator="Ada", sentence="99")
    assert "the paper has 0 to 5" in texts(app)
    assert "It still lacks a sentence for 1 aspect." in texts(app)
    assert app.get("download_button")[0].proto.disabled


def test_the_whole_becomes_a_dataset_that_browse_opens(
    empty_store: Store, own: OwnPaper, open_page: OpenPage
) -> None:
    Annotations(empty_store).save(own.key, annotation("Ada", own, {"One": [2, 3], "Two": [3]}))
    app = open_page("annotate", paper=str(own.id), annotator="Ada")
    assert "Complete" in texts(app)
    assert not app.get("download_button")[0].proto.disabled
    app.text_input(key=f"instance-id.{own.key}").input("tea_1").run()
    app.button(key="add-dataset").click().run()
    dataset = empty_store.dataset("Tea (Ada, revision 1)")
    found = empty_store.get(dataset.name, "tea_1")
    assert [aspect.sentence_indices for aspect in found.evidence.aspects] == [(2, 3), (3,)]
    assert found.evidence.optimal == 1  # sentence 3 covers both
    assert found.hypothesis == "Tea lowers pressure."
    assert address(app)["instance"] == "tea_1"
    assert "1 of 1" in texts(app)
    assert not app.exception


def test_an_instance_is_marked_with_its_gold_hidden(sample_store: Store, open_page: OpenPage) -> None:
    key = instance_key(sample_store.dataset("sample_data"), "sample_trial")
    app = open_page("annotate", paper=key, annotator="Ada")
    gold = sample_store.get("sample_data", "sample_trial").evidence.aspects[0].text
    assert gold is not None
    assert gold not in texts(app)
    next(one for one in app.button if one.label.endswith("of gold, without the marks")).click().run()
    begun = Annotations(sample_store).latest(key, "Ada").annotation
    assert begun is not None
    assert begun.aspects[0].text == gold
    assert begun.uncovered == begun.aspects


def test_a_comparison_needs_two(empty_store: Store, own: OwnPaper, open_page: OpenPage) -> None:
    Annotations(empty_store).save(own.key, annotation("Ada", own, {"One": [2]}))
    app = open_page("annotate", paper=str(own.id), view="compare")
    assert "Only Ada has written aspects" in texts(app)
    button(app, "Back to marking").click().run()
    assert "Who marks?" in texts(app)


def test_two_are_compared_and_make_a_consensus(
    empty_store: Store, own: OwnPaper, open_page: OpenPage
) -> None:
    annotations = Annotations(empty_store)
    annotations.save(own.key, annotation("Ada", own, {"One": [2], "Two": [3]}))
    annotations.save(own.key, annotation("Ben", own, {"One": [2, 4], "Two": [5], "Three": [1]}))
    app = open_page("annotate", paper=str(own.id), view="compare")
    assert "2 aspects stand in both annotations" in texts(app)
    assert "4 in all: 1 by Ada alone and 3 by Ben alone. 1 of them is an aspect" in texts(app)
    button(app, "Begin the consensus").click().run()
    assert standing(empty_store, own, CONSENSUS) == {"One": (2, 4), "Two": (3, 5), "Three": (1,)}
    assert "1 of 4: Sentence 4" in texts(app)
    button(app, "Accept Ada: leave it out").click().run()
    assert standing(empty_store, own, CONSENSUS)["One"] == (2,)
    assert "2 of 4: Sentence 3" in texts(app)
    assert address(app)["sentence"] == "3"
    button(app, "Accept all of Ben").click().run()
    assert standing(empty_store, own, CONSENSUS) == standing(empty_store, own, "Ben")
    button(app, "Undo").click().run()
    assert standing(empty_store, own, CONSENSUS)["Two"] == (3, 5)
    button(app, "Open the consensus").click().run()
    assert address(app)["annotator"] == CONSENSUS
    assert "3 of 3 aspects have a sentence" in texts(app)
    assert not app.exception


def test_annotators_without_a_shared_aspect_are_compared_by_sentence(
    empty_store: Store, own: OwnPaper, open_page: OpenPage
) -> None:
    annotations = Annotations(empty_store)
    annotations.save(own.key, annotation("Ada", own, {"One": [2]}))
    annotations.save(own.key, annotation("Ben", own, {"Other": [2]}))
    app = open_page("annotate", paper=str(own.id), view="compare", a="Ben", b="Ada")
    assert "6 judgements by sentence, headings included. The annotations share no aspect" in texts(app)


def test_gold_without_words_is_no_list_to_start_from(
    empty_store: Store, tmp_path: Path, open_page: OpenPage
) -> None:
    dataset = ingest(empty_store, written(tiny_dataset(), tmp_path / "tiny.json")).dataset
    app = open_page("annotate", paper=instance_key(dataset, "tiny_0"), annotator="Ada")
    assert "gives its aspects no words" in texts(app)
    assert not [one for one in app.button if one.label.startswith("Start from")]
