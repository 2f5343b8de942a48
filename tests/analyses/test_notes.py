"""Notes on misses, instances and sentences: append-only, the newest of an author counts."""

from dataclasses import replace

import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from tests.analyses.stores import run_of

ON_PLACE = Note(instance_id="tiny_0", author="ml", dataset="tiny")


@pytest.fixture
def miss(store: Store) -> Note:
    """A note on an aspect that a run missed."""
    run_id = run_of(store, "bm25", {})
    return replace(ON_PLACE, dataset="", run_id=run_id, task="er@10", aspect_id="harm", cause="budget")


def test_a_note_comes_back_tidy_and_the_newest_of_each_author_counts(store: Store, miss: Note) -> None:
    notes, run = NoteStore(store), miss.run_id
    kept = notes.add(replace(miss, run_id=run[:6], text="  says it \n", tags=(" b ", "a", "b", "")))
    assert notes.notes(run) == (kept,)
    assert (kept.tags, kept.text, kept.run_id, kept.dataset) == (("b", "a"), "says it", run, "tiny")
    assert kept.created_at.endswith("+00:00")
    for author, text in (("kd", "2"), ("ml", "3")):
        notes.add(replace(miss, author=author, text=text))
    notes.add(replace(miss, text="4", aspect_id="outcome"))
    assert [(note.author, note.text) for note in notes.notes(run)] == [("kd", "2"), ("ml", "3"), ("ml", "4")]
    assert notes.notes(run, "er@optimal") == ()


def test_what_cannot_be_kept_is_refused(store: Store, miss: Note) -> None:
    for note, error in (
        (replace(miss, author="  "), SettingError),
        (replace(miss, cause=None, text=" "), SettingError),
        (replace(ON_PLACE, dataset="none"), UnknownNameError),
        (replace(ON_PLACE, instance_id="none"), UnknownNameError),
    ):
        with pytest.raises(error):
            NoteStore(store).add(note)
    assert NoteStore(store).notes_on("tiny") == ()


def test_instances_and_sentences_are_flagged_and_commented(store: Store, miss: Note) -> None:
    notes = NoteStore(store)
    whole = notes.add(replace(ON_PLACE, flagged=True))
    notes.add(replace(ON_PLACE, text="Odd.", sentence=3))
    other = notes.add(replace(ON_PLACE, text="No.", author="kd", sentence=3))
    on_miss = notes.add(miss)
    assert [note.author for note in notes.notes_on("tiny")] == ["ml", "ml", "kd", "ml"]
    assert notes.notes(miss.run_id) == (on_miss,)
    # What says nothing takes back what its author said of that place, and only that.
    notes.add(replace(ON_PLACE, sentence=3))
    assert notes.notes_on("tiny") == (whole, other, on_miss)
