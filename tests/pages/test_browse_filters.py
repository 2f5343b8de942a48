"""Browse's conditions and flags: set by controls, in the address, followed by Next."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from components.browse.notes import note_cell
from evidencebench_core.data import Store
from evidencebench_core.runs import score_run
from evidencebench_core.runs.notes import NoteStore
from tests.pages.app import App, OpenPage, finished_runs

TASK = "er@10"


@pytest.fixture
def runs(sample_store: Store) -> dict[str, str]:
    return finished_runs(sample_store, "bm25", "lead")


def recalls(store: Store, run: str) -> dict[str, float]:
    return {name: round(100 * value, 1) for name, value in score_run(store, run, TASK).per_instance.items()}


def add_score(app: App, run: str, relation: str, *values: float) -> App:
    app.named("selectbox", "Run").set_value(run)
    app.run()
    app.named("selectbox", "Task").set_value(TASK)
    app.named("selectbox", "Aspect Recall").set_value(relation)
    app.run()
    for label, value in zip(("%", "and, %"), values, strict=False):
        app.named("number_input", label).set_value(value)
    return app.press("Add")


def test_two_conditions_are_set_by_controls_and_joined(
    open_page: OpenPage, sample_store: Store, runs: dict[str, str]
) -> None:
    lead, bm25 = recalls(sample_store, runs["lead"]), recalls(sample_store, runs["bm25"])
    app = add_score(open_page("browse"), runs["bm25"], "<", 40)
    low = [name for name, value in bm25.items() if value < 40]
    assert 1 < len(low) < 6
    assert f"{len(low)} of 6 instances" in app.words
    app = add_score(app, runs["lead"], "between", 50, 70)
    both = [name for name in low if 50 <= lead[name] <= 70]
    assert 0 < len(both) < len(low)
    assert f"{len(both)} of 6 instances" in app.words
    chips = [label.replace("\\", "") for label in app.labels() if label.startswith("✕")]
    assert chips == [
        f"✕ bm25 ({runs['bm25'][:6]}), ER@10 is below 40%",
        f"✕ lead ({runs['lead'][:6]}), ER@10 is between 50% and 70%",
    ]
    opened = open_page("browse", **app.address)
    assert f"{len(both)} of 6 instances" in opened.words
    reading = open_page("browse", **app.address, instance=both[0])
    assert f"1 of {len(both)}" in reading.words
    app.press(next(label for label in app.labels() if label.startswith("✕") and "between" in label))
    assert f"{len(low)} of 6 instances" in app.words


def test_a_slice_is_a_condition_too(open_page: OpenPage, sample_store: Store, runs: dict[str, str]) -> None:
    app = open_page("browse")
    app.named("segmented_control", "Condition on").set_value("slice")
    app.run()
    app.named("selectbox", "Slices by").set_value("sentences")
    app.run()
    name = app.named("selectbox", "Slice").options[0]
    app.press("Add")
    n = name.rpartition("(")[2].split()[0]
    assert f"{n} of 6 instances" in app.words
    assert json.loads(app.address["if"])[0][:2] == ["slice", "sentences"]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ("[[", "cannot be read"),
        ('[["score","0123","er@10","=",0]]', "run 0123: is not here"),
        ('[["score","<b>","er@10","=",0]]', "run <b>: is not here"),
        ('[["score","0123","er@10","like",0]]', "relation 'like'"),
        ('[["slice","moon","full"]]', "slices by 'moon'"),
    ],
)
def test_a_condition_that_cannot_be_met_is_named_and_left_out(
    open_page: OpenPage, conditions: str, said: str
) -> None:
    app = open_page("browse", **{"if": conditions})
    assert said in app.problems
    assert "6 of 6 instances" in app.words


@pytest.mark.usefixtures("sample_store")
def test_a_range_that_is_no_filter_is_named_and_left_out(open_page: OpenPage) -> None:
    app = open_page("browse", where="0123456789ab:0-50,n_sentences:0-400")
    assert "A range in this link is no filter here and is left out." in app.problems
    assert "6 of 6 instances" in app.words
    assert not app.press("Clear all").problems


def test_instances_without_a_score_are_counted(open_page: OpenPage, sample_store: Store) -> None:
    run = finished_runs(sample_store, "lead", limit=4)["lead"]
    app = open_page("browse", **{"if": json.dumps([["score", run, TASK, ">=", 0]])})
    assert "4 of 6 instances; 2 left out because a run has no score for them" in app.words


def test_an_instance_and_a_sentence_are_flagged_commented_and_found_again(
    open_page: OpenPage, sample_store: Store
) -> None:
    read = {"instance": "sample_cohort", "sentence": "3"}
    app = open_page("browse", **read)
    assert "Flag it or write a comment" in app.press("Save").problems
    app.named("checkbox", "⚑ Flag").check()
    assert "has no author" in app.press("Save").problems
    app.named("text_input", "Author").set_value("<i>ml</i>")
    app.named("text_area", "Comment").set_value("Odd :red[numbers].")
    app.press("Save")
    (note,) = NoteStore(sample_store).notes_on("sample_data")
    assert (note.sentence, note.flagged, note.text) == (3, True, "Odd :red[numbers].")
    app.named("segmented_control", "On").set_value("")
    app.run()
    app.named("text_area", "Comment").set_value("Whole.")
    app.press("Save")
    notes = NoteStore(sample_store).notes_on("sample_data")
    assert [note.sentence for note in notes] == [3, None]
    assert note_cell(notes) == "⚑ 1, 2 comments"
    for choice, n in (("flagged", 1), ("yes", 1), ("no", 5), ("odd", 6)):
        assert f"{n} of 6 instances" in open_page("browse", noted=choice).words
    assert "2 notes on 1 instance" in open_page("browse").words
    # Another window that shows no note yet takes nothing back, and what was written there is told.
    late = open_page("browse", kept={"author": "two"}, **read)
    first = open_page("browse", kept={"author": "two"}, **read)
    first.named("checkbox", "⚑ Flag").check()
    first.press("Save")
    late.named("text_area", "Comment").set_value("Second thoughts.")
    problems = late.press("Save").problems
    assert "changed in another window" in problems
    assert "Second thoughts." in problems
    (own,) = (one for one in NoteStore(sample_store).notes_on("sample_data") if one.author == "two")
    assert own.flagged
    NoteStore(sample_store).add(replace(own, flagged=False), own.created_at)
    # Emptied, it is taken back.
    again = open_page("browse", kept={"author": "<i>ml</i>"}, **read)
    again.named("checkbox", "⚑ Flag").uncheck()
    again.named("text_area", "Comment").set_value("")
    again.press("Save")
    assert [note.sentence for note in NoteStore(sample_store).notes_on("sample_data")] == [None]
