"""Mark evidence: marking, undoing, a proposal decided, two annotators, and what is saved."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from evidencebench_core.annotation.export import exported_annotation
from evidencebench_core.annotation.guidelines import guidelines
from evidencebench_core.annotation.marked import instance_key, marked_paper
from evidencebench_core.annotation.model import CONSENSUS
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import MARKED_BY_HAND, Store
from evidencebench_core.errors import StoreError
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.read import paper_of_file
from tests.annotation.scripted_model import save_proposal
from tests.annotation.test_differences import annotation
from tests.components.annotate.test_decisions import as_dict
from tests.pages.app import App, OpenPage, raising

TEXT = b"# Tea\n\n## Results\n\nPressure fell by 3 mmHg. It fell in women too. Nobody died. Sleep was the same.\n"


class Marks:
    """A kept paper, sentences 0 and 1 headings, 2 to 5 its text, and the marks of its annotators."""

    def __init__(self, store: Store) -> None:
        self.own = OwnPapers(store).save(paper_of_file(TEXT, "tea.md"), "Tea", "Tea helps.")
        self.annotations = Annotations(store)

    def save(self, who: str, **marks: Sequence[int]) -> None:
        self.annotations.save(self.own.key, annotation(who, marks, n_sentences=6))

    def propose(self, unit: str, **marks: Sequence[int]) -> None:
        """A proposal of the model ``m``; the unit says what it was asked."""
        proposal = annotation("model:m", marks, n_sentences=6)
        save_proposal(self.annotations.store, self.own.key, proposal, unit * 12)

    def __call__(self, who: str = "Ada") -> dict[str, tuple[int, ...]]:
        saved = self.annotations.get(self.own.key, who)
        return as_dict(saved) if saved else {}


@pytest.fixture
def marks(empty_store: Store) -> Marks:
    return Marks(empty_store)


@pytest.fixture
def opened(open_page: OpenPage, marks: Marks) -> OpenPage:
    """Open the page at that paper, in the session of Ada unless told otherwise."""

    def open_paper(name: str = "Ada", **params: str) -> App:
        return open_page("annotate", kept={"author": name}, **{"paper": str(marks.own.id), **params})

    return open_paper


@pytest.mark.parametrize("name", ["", "gold", "model:m", CONSENSUS])
def test_a_paper_asks_who_marks_and_some_names_are_nobodys(opened: OpenPage, marks: Marks, name: str) -> None:
    marks.save("Ben", Pressure=[2])
    marks.propose("1", Pressure=[2])
    app = opened(name)
    assert "Undo" not in app.labels()
    app.text_input(key="who-name").input("  Ada ")
    assert app.press("Start marking").address["annotator"] == "Ada"
    assert "Undo" in app.labels()


def test_guidelines_stand_beside_the_paper_and_go_out_with_its_marks(opened: OpenPage, marks: Marks) -> None:
    store = marks.annotations.store
    ours = guidelines(store)
    marks.save("Ada", Pressure=[2])
    app = opened().fill("What a sentence must say", "Mark all.", "text_area")
    exported = exported_annotation(marks.annotations, marked_paper(store, marks.own.key), "Ada")
    assert exported.construction["guidelines"] == "Mark all."
    app.fill("What a sentence must say", " ", "text_area")
    assert guidelines(store) == ours


def test_aspects_are_written_changed_removed_and_all_is_undone(opened: OpenPage, marks: Marks) -> None:
    app = opened()
    for text in ("Pressure fell", "Nobody died"):
        app.text_input(key="new-aspect-text").input(text)
        app.press("Add aspect")
    assert marks() == {"Pressure fell": (), "Nobody died": ()}
    assert app.address["aspect"] == "aspect_1"  # the next clicks mark for it
    app.fill("A2 says", "Nobody left").press("Remove")
    assert list(marks()) == ["Pressure fell"]
    app.press("Undo").press("Undo")
    assert list(marks()) == ["Pressure fell", "Nobody died"]
    app.press("Redo")
    assert list(marks()) == ["Pressure fell", "Nobody left"]
    app.text_area[0].input("Tea helps women.").run()
    saved = marks.annotations.get(marks.own.key, "Ada")
    assert saved is not None
    assert saved.hypothesis == "Tea helps women."


def test_a_failed_save_loses_nothing(opened: OpenPage, marks: Marks, monkeypatch: pytest.MonkeyPatch) -> None:
    marks.save("Ada", One=[2])
    app = opened()
    with monkeypatch.context() as changed:
        changed.setattr(Annotations, "edit", raising(StoreError("the store", "is busy", "Try again.")))
        app.text_input(key="new-aspect-text").input("Nobody died")
        app.press("Add aspect")
    assert "Not saved." in app.words
    assert app.text_input(key="new-aspect-text").value == "Nobody died"
    app.press("Add aspect")
    assert marks() == {"One": (2,), "Nobody died": ()}


def test_two_are_compared_and_make_a_consensus(opened: OpenPage, marks: Marks) -> None:
    ada = annotation("Ada", {"Pressure": (2, 3), "Death": (4,)}, n_sentences=6)
    marks.annotations.save(marks.own.key, ada.set_note("aspect_0", "Both arms."))
    marks.save("Ben", Pressure=[2], Sleep=[5])
    app = opened("", view="compare", a="Ada", b="Ben")
    assert "Only Ada has it. Ada: Both arms." in app.words
    app.press("Next").press("Back")  # to be read before anybody decides
    assert marks(CONSENSUS) == {}
    app.fill("Your name or initials", "Cleo").press("Accept")  # sentence 3, by Ada alone
    assert marks(CONSENSUS) == {"Pressure": (2, 3), "Death": (4,), "Sleep": (5,)}
    app.press("Reject")  # the aspect Death
    assert marks(CONSENSUS) == {"Pressure": (2, 3), "Sleep": (5,)}
    app.press("Reject")  # Death's sentence goes with it: the aspect Sleep
    assert marks(CONSENSUS) == {"Pressure": (2, 3)}
    assert "All are settled" in app.words
    assert app.press("Open the consensus").address["annotator"] == CONSENSUS


def test_a_complete_one_becomes_an_instance(opened: OpenPage, marks: Marks, empty_store: Store) -> None:
    marks.save("Ada", Pressure=[2, 3])
    opened().press("Add it")
    (dataset,) = empty_store.datasets()
    assert (dataset.name, dataset.source) == ("Marked by hand", MARKED_BY_HAND)
    (instance_id,) = empty_store.ids(dataset.name)
    assert empty_store.get(dataset.name, instance_id).evidence.aspects[0].sentence_indices == (2, 3)
    key = instance_key(dataset, instance_id)
    app = opened("Ben", paper=key)
    app.text_input(key="new-aspect-text").input("Mine")
    app.press("Add aspect")
    assert marks.annotations.annotators(key) == ("Ben",)


@pytest.mark.parametrize("name", ["Ada", ""])
def test_a_link_to_marks_makes_nobody_that_person(opened: OpenPage, marks: Marks, name: str) -> None:
    marks.save("Ben", Pressure=[2])
    app = opened(name, annotator="Ben", sentence="2")
    assert "The marks of **Ben**, read only" in app.words
    assert not {"Undo", "Add aspect", "Add it"} & set(app.labels())
    if not name:
        app.text_input(key="who-name").input("Ada")
    app.press("Mark as Ada" if name else "Start marking")
    assert (app.address["annotator"], "sentence" in app.address) == ("Ada", False)
    app.press("Start from the 1 aspect of Ben")
    assert app.address["aspect"] == "aspect_0"  # the next click marks
    assert (marks("Ada"), marks("Ben")) == ({"Pressure": ()}, {"Pressure": (2,)})


def test_the_newest_proposal_is_shown_and_nothing_is_written(opened: OpenPage, marks: Marks) -> None:
    marks.save("Ada", Pressure=[])
    marks.propose("2", Pressure=[4])
    marks.propose("1", Pressure=[2, 3])  # the newer one, though the first by its name
    with closing(sqlite3.connect(marks.annotations.store.path)) as db:
        before = db.execute("PRAGMA data_version").fetchone()  # another one after any write
        app = opened()
        assert app.address["sentence"] == "2"  # that of the proposal in hand
        assert app.run(sentence="5").run().address["sentence"] == "5"
        assert app.press("Next").address["sentence"] == "3"
        assert db.execute("PRAGMA data_version").fetchone() == before
