"""Missed aspects: the queue, one miss, and a note on it."""

from __future__ import annotations

import pytest

from evidencebench_core.analyses.missed import aspect_outcomes, queue_of
from evidencebench_core.data import Store
from evidencebench_core.runs.notes import Note, NoteStore
from tests.pages.asking import click
from tests.pages.conftest import OpenPage, address, finished_runs, texts

TASK = "result-er@optimal"


@pytest.fixture
def run(sample_store: Store) -> str:
    """Id of a lead run over the sample papers."""
    return finished_runs(sample_store, "lead")["lead"]


@pytest.fixture
def queue(sample_store: Store, run: str) -> list[tuple[str, str]]:
    """Instance and aspect ids of its misses, nearest first."""
    frame = queue_of(aspect_outcomes(sample_store, run, TASK))
    return list(zip(frame["instance"], frame["aspect"], strict=True))


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize("link", [{}, {"instance": "sample_trial", "aspect": "aspect_0"}])
def test_without_a_run_it_says_what_it_is_for(open_page: OpenPage, link: dict[str, str]) -> None:
    app = open_page("missed", **link)
    assert "Here you work through what a run missed" in texts(app)
    assert "Start one on the Leaderboard" in [button.label for button in app.button]


def test_the_queue_says_how_many_of_how_many(
    open_page: OpenPage, run: str, queue: list[tuple[str, str]]
) -> None:
    said = texts(open_page("missed", run=run))
    assert f"**{len(queue)} of " in said
    assert f"{len(queue)} of {len(queue)} misses, 0 with a note" in said
    assert "1 instance is skipped" in said  # sample_exposure has no result aspects


def test_filters_narrow_the_queue_and_can_be_cleared(
    open_page: OpenPage, run: str, queue: list[tuple[str, str]]
) -> None:
    app = open_page("missed", run=run, section="introduction", decile="0–10%")
    assert f"{len(queue)} of {len(queue)} misses" not in texts(app)
    click(app, "Clear filters")
    assert f"{len(queue)} of {len(queue)} misses" in texts(app)
    app.text_input[0].set_value("night shift").run()
    assert address(app)["q"] == "night shift"


def test_an_er_task_shows_results_unless_all_are_asked_for(open_page: OpenPage, run: str) -> None:
    app = open_page("missed", run=run, task="er@optimal")
    assert "result aspects missed" in texts(app)
    assert "not shown" in texts(app)
    app.toggle[0].set_value(True).run()
    assert address(app)["all"] == "1"
    assert "result aspects missed" not in texts(app)


def test_a_miss_shows_its_cause_with_the_rule(
    open_page: OpenPage, run: str, queue: list[tuple[str, str]]
) -> None:
    app = open_page("missed", run=run, instance=queue[0][0], aspect=queue[0][1])
    said = texts(app)
    assert f"Miss 1 of {len(queue)}" in said
    assert "**Suggested cause:" in said
    assert "Rule: " in said
    assert "What took its place" in said
    click(app, "Next")
    assert (address(app)["instance"], address(app)["aspect"]) == queue[1]
    click(app, "Previous")
    assert (address(app)["instance"], address(app)["aspect"]) == queue[0]
    click(app, "All misses")
    assert "instance" not in address(app)


def test_a_note_is_kept_and_the_next_miss_opened(
    open_page: OpenPage, run: str, queue: list[tuple[str, str]], sample_store: Store
) -> None:
    app = open_page("missed", run=run, instance=queue[0][0], aspect=queue[0][1], noted="no")
    next(t for t in app.text_input if t.label == "Author").set_value("ml")
    app.text_area[0].set_value("Says <b>nothing</b>.")
    click(app, "Save and next")
    (note,) = NoteStore(sample_store).notes(run)
    assert (note.instance_id, note.aspect_id) == queue[0]
    assert (note.author, note.text) == ("ml", "Says <b>nothing</b>.")
    assert note.cause is not None
    assert (address(app)["instance"], address(app)["aspect"]) == queue[1]
    assert next(t for t in app.text_input if t.label == "Author").value == "ml"  # remembered


def test_a_note_without_an_author_is_asked_for_one(
    open_page: OpenPage, run: str, queue: list[tuple[str, str]], sample_store: Store
) -> None:
    app = open_page("missed", run=run, instance=queue[0][0], aspect=queue[0][1])
    click(app, "Save")
    assert "no author" in "\n".join(str(error.value) for error in app.error)
    assert NoteStore(sample_store).notes(run) == ()


def test_a_note_is_shown_as_text(
    open_page: OpenPage, run: str, queue: list[tuple[str, str]], sample_store: Store
) -> None:
    NoteStore(sample_store).add(Note(run, TASK, *queue[0], "<i>ml</i>", "odd*cause*", (":red[t]",), "$x$"))
    said = texts(open_page("missed", run=run, instance=queue[0][0], aspect=queue[0][1]))
    assert "\\<i\\>ml" in said
    assert "\\:red\\[t\\]" in said
    assert "\\$x\\$" in said


@pytest.mark.parametrize(
    "params",
    [
        {"run": "ffff"},
        {"run": "ffff", "instance": "sample_cohort", "aspect": "x"},
        {"instance": "sample_cohort", "aspect": "nothing"},
        {"instance": "nobody", "aspect": "nothing"},
        {"instance": "sample_exposure", "aspect": "nothing"},
        {"task": "er@zero"},
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page: OpenPage, run: str, params: dict[str, str]) -> None:
    app = open_page("missed", **({"run": run} | params))
    assert app.warning or app.error
    assert not any("should not" in str(error.value) for error in app.error)


@pytest.mark.parametrize("rules", ["[]", "{", '{"near_places": -1}'])
def test_rules_that_are_none_are_the_default_ones(open_page: OpenPage, run: str, rules: str) -> None:
    app = open_page("missed", run=run, rules=rules, where="a:b,n_sentences:x-y", section="nowhere", sort="x")
    assert not app.error
