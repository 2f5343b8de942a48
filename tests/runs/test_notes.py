"""Notes: append-only, the newest of an author counts."""

from __future__ import annotations

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.runs import RunSpec, RunStore
from evidencebench_core.runs.notes import NOTE_COLUMNS, Note, NoteStore, nested_notes, note_rows


@pytest.fixture
def run(store: Store) -> str:
    info = store.dataset("tiny")
    return RunStore(store).create(RunSpec(info.sha256, "bm25", {}), info).id


def note(run: str, author: str = "ml", text: str = "x", aspect: str = "harm") -> Note:
    return Note(run, "er@10", "tiny_0", aspect, author, "budget", (" b ", "a", "b", ""), text)


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
    assert [n.text for n in notes.notes(run, history=True)] == ["1", "2", "3", "4"]
    assert notes.notes(run, "er@optimal") == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"author": "  "}, "no author"),
        ({"cause": None, "tags": (), "text": " "}, "says nothing"),
        ({"text": "x" * 20_001}, "20,001 characters"),
        ({"tags": ("x" * 101,)}, "101 characters"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    store: Store, run: str, changed: dict[str, object], said: str
) -> None:
    from dataclasses import replace

    with pytest.raises(SettingError, match=said):
        NoteStore(store).add(replace(note(run), **changed))
    assert NoteStore(store).notes(run) == ()


def test_a_note_on_no_run_is_refused(store: Store) -> None:
    with pytest.raises(UnknownNameError):
        NoteStore(store).add(note("ffff"))


def test_exports_are_keyed_by_instance_and_aspect(store: Store, run: str) -> None:
    kept = NoteStore(store).add(note(run))
    assert list(note_rows([kept])[0]) == list(NOTE_COLUMNS)
    assert note_rows([kept])[0]["tags"] == "b; a"
    said = nested_notes([kept])["tiny_0"]["harm"][0]
    assert (said["author"], said["tags"], said["cause"]) == ("ml", ["b", "a"], "budget")
    assert "instance_id" not in said
