"""Missed aspects: the queue, one miss, and a note on it."""

from __future__ import annotations

import pytest

from evidencebench_core.analyses.missed import aspect_outcomes, queue_of
from evidencebench_core.data import Store
from evidencebench_core.runs.notes import Note, NoteStore
from tests.pages.app import OpenPage, drawn, finished_runs

TASK = "result-er@optimal"


@pytest.fixture
def run(sample_store: Store) -> str:
    """Id of a lead run over the sample papers."""
    return finished_runs(sample_store, "lead")["lead"]


@pytest.fixture
def misses(sample_store: Store, run: str) -> list[dict[str, str]]:
    """Links to its misses, nearest first."""
    frame = queue_of(aspect_outcomes(sample_store, run, TASK))[["instance", "aspect"]]
    return [{"run": run, **row} for row in frame.to_dict("records")]


def place_of(miss: dict[str, str]) -> dict[str, str]:
    """The fields of a note on a miss that say what it is on."""
    return {"run_id": miss["run"], "task": TASK, "instance_id": miss["instance"], "aspect_id": miss["aspect"]}


def test_the_queue_and_the_notes_are_exported_with_their_words(
    sample_store: Store, run: str, misses: list[dict[str, str]]
) -> None:
    NoteStore(sample_store).add(
        Note(**place_of(misses[0]), author="ml", cause="far", tags=("t",), text="Why?")
    )

    def script(run: str) -> None:
        import streamlit as st

        from components.app import resources
        from components.app.state import PageState
        from components.missed.misses import exported_misses, exported_notes
        from components.missed.queue import QUEUE_DEFAULTS, queue_from
        from evidencebench_core.tasks import task_named

        dataset, task = resources.named_dataset("sample_data"), task_named("result-er@optimal")
        queue = queue_from(PageState("missed", QUEUE_DEFAULTS), dataset, resources.run(run), task)
        st.dataframe(exported_misses(queue))
        st.dataframe(exported_notes(queue))

    exported, notes = (one.value for one in drawn(script, run).dataframe)
    assert len(exported) == len(misses)
    (note,), first = notes.to_dict("records"), misses[0]
    row = exported.iloc[0]
    assert (row["instance"], row["notes"]) == (first["instance"], "ml: far, t, Why?")
    instance = sample_store.get("sample_data", first["instance"])
    for found in (row, note):
        assert found["hypothesis"] == instance.hypothesis
        assert found["sentence_text"] == instance.sentences[found["sentence"]]
        assert found["best_rank"] > 0
    assert row["cause"] == note["suggested_cause"]


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"q": "night"},
        {"decile": "0–10%", "where": "n_sentences:100-400"},
        {"n": "2,3"},
        {"section": "abstract", "cause": "redundancy"},
        {"noted": "yes"},
        {"q": "night", "type": "abstract", "noted": "no"},
    ],
)
def test_charts_count_the_misses_that_the_filters_leave(
    sample_store: Store, run: str, misses: list[dict[str, str]], filters: dict[str, str]
) -> None:
    NoteStore(sample_store).add(Note(**place_of(misses[0]), author="ml", cause="far"))

    def script(run: str, filters: dict[str, str]) -> None:
        import streamlit as st

        from components.app import resources
        from components.app.state import PageState
        from components.missed import cached
        from components.missed.queue import BINNING_OF, QUEUE_DEFAULTS, queue_from
        from evidencebench_core.tasks import task_named

        dataset, task = resources.named_dataset("sample_data"), task_named("result-er@optimal")
        state = PageState("missed", QUEUE_DEFAULTS)
        state.put(**filters)
        queue = queue_from(state, dataset, resources.run(run), task)
        for name in ("n", "cause"):
            left, missed = queue.share_behind(name)
            limits = queue.limits.text()
            st.dataframe(cached.missed_share(queue.run, task.name, limits, BINNING_OF[name], left, missed))
        st.markdown(len(queue.shown))

    app = drawn(script, run, filters)
    by_n, by_cause = (one.value.set_index("bin") for one in app.dataframe)
    n_shown = int(app.markdown[-1].value)
    of_n = by_n.loc[filters["n"].split(",")] if "n" in filters else by_n
    assert of_n["n_missed"].sum() == n_shown
    of_cause = by_cause.loc[[filters["cause"]] if "cause" in filters else by_cause.index]
    assert of_cause["n_missed"].sum() == n_shown  # every miss has one first cause, or none
    assert (by_n["n_missed"] <= by_n["n_aspects"]).all()
    if "noted" not in filters and "cause" not in filters:  # an aspect has one number of covering sentences
        assert by_cause["n_aspects"].iloc[0] == of_n["n_aspects"].sum()


@pytest.mark.usefixtures("sample_store")
def test_without_a_run_it_says_what_it_is_for(open_page: OpenPage) -> None:
    app = open_page("missed", instance="sample_trial", aspect="aspect_0")
    assert "Here you work through what a run missed" in app.words
    assert "Start one on the Leaderboard" in app.labels()


def test_filters_narrow_the_queue_and_can_be_cleared(
    open_page: OpenPage, run: str, misses: list[dict[str, str]]
) -> None:
    whole = f"{len(misses)} of {len(misses)} misses, 0 with a note"
    app = open_page("missed", run=run, section="introduction", decile="0–10%")
    assert whole not in app.words
    assert whole in app.press("Clear filters").words
    assert f"**{len(misses)} of " in app.words
    assert "1 instance is skipped" in app.words  # sample_exposure has no result aspects
    app.text_input[0].set_value("night shift").run()
    assert app.address["q"] == "night shift"


def test_an_er_task_shows_results_unless_all_are_asked_for(open_page: OpenPage, run: str) -> None:
    app = open_page("missed", run=run, task="er@optimal")
    assert "result aspects missed" in app.words
    app.toggle[0].set_value(True).run()
    assert app.address["all"] == "1"
    assert "result aspects missed" not in app.words


def test_a_miss_shows_its_cause_with_the_rule(open_page: OpenPage, misses: list[dict[str, str]]) -> None:
    app = open_page("missed", **misses[0])
    for text in (f"Miss 1 of {len(misses)}", "**Suggested cause:", "Rule: ", "What took its place"):
        assert text in app.words
    assert app.press("Next").address.items() >= misses[1].items()
    assert app.press("Previous").address.items() >= misses[0].items()
    assert "instance" not in app.press("All misses").address


def test_a_note_needs_an_author_and_then_the_next_miss_is_opened(
    open_page: OpenPage, run: str, misses: list[dict[str, str]], sample_store: Store
) -> None:
    app = open_page("missed", **misses[0], noted="no")
    app.text_area[0].set_value("Says <b>nothing</b>.")
    assert "no author" in app.press("Save").problems
    assert NoteStore(sample_store).notes(run) == ()
    app.named("text_input", "Author").set_value("ml")
    app.press("Save and next")
    (note,) = NoteStore(sample_store).notes(run)
    assert {"run": run, "instance": note.instance_id, "aspect": note.aspect_id} == misses[0]
    assert (note.author, note.text, note.cause is None) == ("ml", "Says <b>nothing</b>.", False)
    assert app.address.items() >= misses[1].items()
    assert app.named("text_input", "Author").value == "ml"  # remembered


def test_a_note_is_shown_as_text(
    open_page: OpenPage, run: str, misses: list[dict[str, str]], sample_store: Store
) -> None:
    NoteStore(sample_store).add(
        Note(**place_of(misses[0]), author="<i>ml</i>", cause="odd*cause*", tags=(":red[t]",), text="$x$")
    )
    shown = open_page("missed", **misses[0]).raw
    assert all(escaped in shown for escaped in ("\\<i\\>ml", "\\:red\\[t\\]", "\\$x\\$"))


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
    problems = open_page("missed", **({"run": run} | params)).problems
    assert problems
    assert "should not" not in problems


@pytest.mark.parametrize("rules", ["[]", "{", '{"near_places": -1}'])
def test_rules_that_are_none_are_the_default_ones(open_page: OpenPage, run: str, rules: str) -> None:
    app = open_page("missed", run=run, rules=rules, where="a:b,n_sentences:x-y", section="nowhere", sort="x")
    assert not app.error


def test_a_run_without_answers_for_the_task_leads_to_those_it_has(
    open_page: OpenPage, sample_store: Store
) -> None:
    run = finished_runs(sample_store, "lead", tasks=("er@10",))["lead"]
    app = open_page("missed", run=run)
    assert "has no answers for Result-ER@Optimal. It has answers for:" in app.words
    assert "aspects missed" in app.press("ER@10").words
    assert app.address["task"] == "er@10"
