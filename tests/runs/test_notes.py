"""Notes on misses, instances and sentences: append-only, the newest of an author counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.runs import RunStore, retrieval_spec
from evidencebench_core.runs.notes import Note, NoteStore


@pytest.fixture
def run(store: Store) -> str:
    info = store.dataset("tiny")
    return RunStore(store).create(retrieval_spec(info.sha256, "bm25", {})).id


def note(run: str, author: str = "ml", text: str = "x", aspect: str = "harm") -> Note:
    return Note(
        run_id=run,
        task="er@10",
        instance_id="tiny_0",
        aspect_id=aspect,
        author=author,
        cause="budget",
        tags=(" b ", "a", "b", ""),
        text=text,
    )


def test_a_note_comes_back_with_its_time_and_tidy_tags(store: Store, run: str) -> None:
    kept = NoteStore(store).add(note(run[:6], text="  says it \n"))
    (found,) = NoteStore(store).notes(run)
    assert found == kept
    assert (found.tags, found.text, found.run_id) == (("b", "a"), "says it", run)
    assert found.created_at.endswith("+00:00")


def test_the_newest_of_each_author_counts_and_none_is_lost(store: Store, run: str) -> None:
    notes = NoteStore(store)
    for author, text in (("ml", "1"), ("kd", "2"), ("ml", "3")):
        notes.add(note(run, author, text))
    notes.add(note(run, "ml", "4", aspect="outcome"))
    assert [(n.author, n.text) for n in notes.notes(run)] == [("kd", "2"), ("ml", "3"), ("ml", "4")]
    assert notes.notes(run, "er@optimal") == ()


@pytest.mark.parametrize("changed", [{"author": "  "}, {"cause": None, "tags": (), "text": " "}])
def test_what_cannot_be_kept_is_refused(store: Store, run: str, changed: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        NoteStore(store).add(replace(note(run), **changed))
    assert NoteStore(store).notes(run) == ()


def on_place(text: str = "", author: str = "ml", **about: object) -> Note:
    return Note(instance_id="tiny_0", author=author, dataset="tiny", text=text, **about)  # type: ignore[arg-type]


def test_instances_and_sentences_are_flagged_and_commented_whatever_the_runs(store: Store, run: str) -> None:
    notes = NoteStore(store)
    whole = notes.add(on_place(flagged=True))
    sentence = notes.add(on_place(" Odd. ", sentence=3))
    notes.add(on_place("No.", "kd", sentence=3))
    miss = notes.add(note(run))
    assert (sentence.text, sentence.run_id, miss.dataset) == ("Odd.", "", "tiny")
    assert [n.author for n in notes.notes_on("tiny")] == ["ml", "ml", "kd", "ml"]
    assert notes.notes(run) == (miss,)
    # What says nothing takes back what its author said of that place, and only that.
    notes.add(on_place(sentence=3))
    assert [(n.author, n.sentence) for n in notes.notes_on("tiny")] == [("ml", None), ("kd", 3), ("ml", None)]
    assert notes.notes_on("tiny")[0] == whole


@pytest.mark.parametrize("changed", [{"dataset": "none"}, {"instance_id": "none"}])
def test_a_note_on_no_place_is_refused(store: Store, changed: dict[str, object]) -> None:
    with pytest.raises(UnknownNameError):
        NoteStore(store).add(replace(on_place("x"), **changed))
    assert NoteStore(store).notes_on("tiny") == ()
