"""The page Reliability: from the empty state to a card, an item in every test, a run that is cancelled and resumed."""

from __future__ import annotations

import json

import pytest

from evidencebench_core.data import Store
from evidencebench_core.reliability.items import Item, add_items, item_sets
from evidencebench_core.reliability.runs import judge_plan, judge_runs, reliability_runs, run_plan
from evidencebench_core.reliability.sample import add_sample_items
from tests.llm.server import Step, answering, reply, scripted
from tests.pages.app import NOBODY, App, OpenPage, drawn, with_server
from tests.reliability.asking import ask_scripted, carry_out

HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$"
ASKED = ("baseline", "paraphrase", "few-shot", "spelling", "negation", "distraction", "freeform", "unknown")


@pytest.fixture
def asked(empty_store: Store) -> Store:
    """The sample, asked of a model that says yes and of one that says what is no label."""
    add_sample_items(empty_store)
    for model, text in (("yea", "Yes."), (HOSTILE, HOSTILE)):
        for task in ASKED:
            plan = run_plan(
                empty_store, "sample", task, model, {"errors": ("0", "3")} if task == "spelling" else {}
            )
            carry_out(empty_store, plan, lambda _, text=text: text)
            if task == "freeform":
                carry_out(empty_store, judge_plan(empty_store, plan.run_id, "judge"), lambda _: "Yes")
    return empty_store


def by_rule(request: dict[str, object]) -> Step:
    return reply("Yes.")


def test_the_first_start_has_one_button_that_gets_there(open_page: OpenPage, empty_store: Store) -> None:
    page = open_page("reliability")
    assert "Here you see, test by test" in page.words
    page.press("Load the 24 sample questions")
    assert [info.n_items for info in item_sets(empty_store)] == [24]
    assert "No model was asked yet" in page.words
    assert page.address == {"items": "sample"}
    for part in ("task", "compare", "judges", "questions"):
        assert not page.run(part=part).problems


def test_every_part_draws_what_was_answered_and_text_stays_text(open_page: OpenPage, asked: Store) -> None:
    runs = {(run.model, run.task.name): run.id for run in reliability_runs(asked, "sample")}
    page = open_page("reliability")
    assert "Model card" in page.words
    for task in ASKED:
        for model in ("yea", HOSTILE):
            page.run(part="task", task=task, run=runs[model, task])
            assert not page.problems
            assert "n = 24" in page.words
            assert "<img" not in page.raw.replace("\\<img", "")
    assert "For comparison" in page.words
    page.run(part="task", task="baseline", run=runs["yea", "baseline"])
    assert "weighted F1 **33.3%**" in page.words
    page.run(part="task", task="unknown", run=runs["yea", "unknown"], beside=runs[HOSTILE, "unknown"])
    assert "refrain rate **0.0%**" in page.words
    assert not page.run(part="compare").problems
    page.run(part="judges")
    assert "Do these two mean the same? 0 marked" in page.words
    assert not page.problems


def test_an_item_is_shown_in_every_test_with_what_was_changed(open_page: OpenPage, asked: Store) -> None:
    page = open_page("reliability", part="task", task="negation", item="sample-01", card="yea")
    headings = [one.label.replace("\\", "") for one in page.get("expander")]
    assert sum("yes (" in heading for heading in headings) >= 6
    assert "What was changed in the context" in page.words
    assert page.run(item="nothing").problems


def test_filters_leave_what_they_say(open_page: OpenPage, asked: Store) -> None:
    run = next(
        one
        for one in reliability_runs(asked, "sample")
        if (one.model, one.task.name) == ("yea", "paraphrase")
    )
    page = open_page("reliability", part="task", run=run.id, task="paraphrase")
    assert "24 of 24 answers" in page.words
    page.run(cell="right-right")
    assert "12 of 24 answers" in page.words
    page.press("Clear filters")
    assert "24 of 24 answers" in page.words
    assert "cell" not in page.address


def test_links_to_what_is_not_there_are_reported(open_page: OpenPage, asked: Store) -> None:
    assert "There is no set of questions" in open_page("reliability", items="gone").problems
    assert "There is no run" in open_page("reliability", part="task", run="gone").problems
    assert "There is no part" in open_page("reliability", part="<b>").problems


def test_pairs_marked_by_hand_become_a_set_of_pairs(open_page: OpenPage, asked: Store) -> None:
    page = open_page("reliability", part="judges")
    page.press("The same").press("Not the same")
    assert "agree on **1 of 2** pairs" in page.words
    page.fill("Marked by", "Ada").press("Keep")
    pairs = item_sets(asked)[-1]
    assert (pairs.kind, pairs.n_items) == ("pairs", 2)
    assert "Ada" in pairs.source


def dialog(kind: str = "run") -> None:
    """A script: a dialog on its own (AppTest reruns all, a browser the dialog alone)."""
    from components.reliability import cached, start
    from components.reliability.view import View

    info = cached.item_sets()[0]
    view = View(info, cached.item_set(info), cached.runs(info))
    if kind == "run":
        start.run_dialog(view)
    else:
        start.judge_dialog(view, [run.id for run in view.runs if run.task.judge_prompt])


def test_a_run_is_estimated_started_and_not_asked_again(empty_store: Store) -> None:
    add_sample_items(empty_store)
    with scripted(answering(by_rule), listed=("tiny",)) as server:
        page = drawn(dialog, kept=with_server(server.url))
        page.named("pills", "Tests").set_value(["baseline", "negation"])
        page.run()
        assert "48 questions, about 48 calls" in page.words
        assert not server.requests
        page.press("Start").finish()
        assert len(server.requests) == 48
        assert [run.n_answered for run in reliability_runs(empty_store, "sample")] == [24, 24]
        assert "Nothing is left to ask" in page.words


def test_settings_of_a_test_are_another_run_and_a_run_can_be_deleted(
    open_page: OpenPage, empty_store: Store
) -> None:
    add_sample_items(empty_store)
    with scripted(answering(by_rule), listed=("tiny",)) as server:
        page = drawn(dialog, kept=with_server(server.url))
        page.named("pills", "Tests").set_value(["spelling", "distraction"])
        page.run()
        page.fill("errors", "0,x")
        assert "errors" in page.problems
        page.fill("errors", "0,3")
        page.named("checkbox", "near").set_value(True)
        page.named("number_input", "distractors").set_value(1)
        page.run()
        page.named("pills", "Tests").set_value(["spelling", "distraction"])
        page.run().press("Start").finish()
    runs = {run.task.name: run for run in reliability_runs(empty_store, "sample")}
    assert runs["spelling"].settings["errors"] == ("0", "3")
    assert (runs["distraction"].label, runs["spelling"].label) == ("distractors=1 near=True", "errors=0+3")
    app = open_page("reliability", part="task", task="spelling", run=runs["spelling"].id)
    app.named("checkbox", "Delete tiny").set_value(True)
    app.run().press("Delete")
    assert [run.task.name for run in reliability_runs(empty_store, "sample")] == ["distraction"]
    assert "There is no run" not in app.words
    assert "Distraction" in app.words


def test_what_a_judge_said_is_deleted_alone(open_page: OpenPage, empty_store: Store) -> None:
    add_sample_items(empty_store)
    ask_scripted(empty_store, "sample", ["conclusion"], ["always-yes"])
    (run,) = reliability_runs(empty_store, "sample")
    (judge,) = judge_runs(empty_store, run.id)
    app = open_page("reliability", part="task", task="conclusion")
    app.named("selectbox", "What").set_value(judge.id)
    app.run().named("checkbox", "Delete word").set_value(True)
    app.run().press("Delete")
    assert reliability_runs(empty_store, "sample") == (run,)
    assert judge_runs(empty_store, run.id) == ()
    assert "a judge, another model, has to read them" in app.words


def test_a_cap_stops_a_run_which_goes_on_from_there(empty_store: Store) -> None:
    add_sample_items(empty_store)
    with scripted(answering(by_rule), listed=("tiny",)) as server:
        page = drawn(dialog, kept=with_server(server.url, calls="5"))
        page.named("pills", "Tests").set_value(["baseline"])
        page.run().press("Start").finish()
        assert [run.n_answered for run in reliability_runs(empty_store, "sample")] == [5]
        page = drawn(dialog, kept=with_server(server.url))
        page.named("pills", "Tests").set_value(["baseline"])
        page.run()
        assert "19 questions, about 19 calls" in page.words
        page.press("Start").finish()
        assert len(server.requests) == 24


def test_answers_are_judged_from_the_page(empty_store: Store) -> None:
    add_sample_items(empty_store)
    carry_out(empty_store, run_plan(empty_store, "sample", "freeform", "tiny"), lambda _: "It does.")
    with scripted(answering(by_rule), listed=("tiny",)) as server:
        page = drawn(dialog, "judge", kept=with_server(server.url))
        assert "would judge its own answers" in page.problems
        page.press("Judge").finish()
        assert len(server.requests) >= 48  # and the controls
    page = App(page.test)
    assert "Nothing is left to ask" in page.words


def test_a_file_of_questions_is_read_whole_or_not_at_all(open_page: OpenPage, empty_store: Store) -> None:
    page = open_page("reliability")
    questions = [
        {"id": str(n), "question": f"Does it {n}?", "context": f"It {n}.", "answer": "yes"} for n in (1, 1)
    ]
    page.file_uploader[0].upload("own.json", json.dumps(questions).encode(), "application/json")
    page.run().press("Read the file")
    assert "own.json, row 2, id" in page.problems
    assert item_sets(empty_store) == ()


def test_tests_that_a_set_cannot_serve_say_why(empty_store: Store) -> None:
    items = [Item(str(n), f"Is {n} so?", (f"It is {n}.",), "yes") for n in range(3)]
    add_items(empty_store, "yes only", items)
    page = drawn(dialog, kept=with_server(NOBODY))
    assert "few-shot" not in page.named("pills", "Tests").options
    assert "Few-shot bias" in page.words
