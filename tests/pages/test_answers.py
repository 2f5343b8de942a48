"""Answers: systems, one answer with what it cites, judges, files of one's own."""

from __future__ import annotations

import json

import pytest

from evidencebench_core.answers.model import unit_id
from evidencebench_core.answers.store import add_answers, answer_sets, marks
from evidencebench_core.data import Store
from tests.answers.judging import add_sample, judge_run, judge_sample
from tests.pages.app import OpenPage

HOSTILE = "<b>x</b> **y** :red[z] $a$ [l](http://e.org)"


@pytest.fixture
def sample_answers(empty_store: Store) -> str:
    """The sample set in the store; its digest."""
    return add_sample(empty_store)


def test_first_steps(open_page: OpenPage, empty_store: Store) -> None:
    app = open_page("answers")
    assert "which system answers best" in app.words
    app.press("Load the sample answers")
    assert [info.name for info in answer_sets(empty_store)] == ["sample answers"]
    assert "Means over 6 questions" in app.words


@pytest.mark.usefixtures("sample_answers")
def test_systems(open_page: OpenPage) -> None:
    app = open_page("answers", metric="support rate")
    assert "Citations with a supporting excerpt / citations" in app.words
    assert "Means over 6 questions" in app.words
    assert "not recall R plus something" in open_page("answers", metric="recall R+B (by hand)").words
    app = open_page("answers", metric="beauty", set="birds")
    assert "There is no metric beauty" in app.words
    assert "There is no set of answers birds" in app.words


@pytest.mark.usefixtures("sample_answers")
def test_one_answer(open_page: OpenPage) -> None:
    app = open_page("answers", part="answers", question="migraine", system="Magpie", sentence="3")
    for text in (
        "Can tamaric tea prevent migraine?",
        "Judged accurate",
        "says the opposite",
        "does not have this",
    ):
        assert text in app.words, text
    app = open_page("answers", part="answers", question="migraine", system="Cuckoo")
    assert "Judged inaccurate" in app.words
    app = open_page("answers", part="answers", question="nonsense", system="nobody")
    assert "There is no question nonsense" in app.words


def test_judges(open_page: OpenPage, empty_store: Store, sample_answers: str) -> None:
    assert "No model has judged these answers yet" in open_page("answers", part="judges").words
    run = judge_sample(empty_store)
    app = open_page("answers", part="judges", run=run)
    assert "39 units" in app.words
    assert "Without a label, and so wrong: 1;" in app.words
    assert "Beyond chance: kappa" in app.words
    assert "always says attributable" in app.words  # beside the published figures
    relevance = {unit_id("ankle", "Heron", "1"): "required"}
    app = open_page(
        "answers", part="judges", run=judge_run(empty_store, sample_answers, "relevance", relevance)
    )
    assert "1 unit;" in app.words
    assert "There is no run nonsense" in open_page("answers", part="judges", run="nonsense").words


def test_a_person_corrects_a_judge(open_page: OpenPage, empty_store: Store, sample_answers: str) -> None:
    unit = unit_id("ankle", "Heron", "1")
    run = judge_run(empty_store, sample_answers, "relevance", {unit: "unnecessary"}, "relevance")
    app = open_page("answers", part="answers", question="ankle", system="Heron", sentence="1", run=run)
    app.fill("Your name", "Ana")
    app.named("selectbox", "Label of this sentence").set_value("required").run()
    (mark,) = marks(empty_store, sample_answers)
    assert (mark.unit, mark.value, mark.author, mark.before) == (unit, "required", "Ana", "unnecessary")
    app = open_page("answers", part="judges", run=run)
    assert "Accuracy" not in app.problems
    assert "With 1 correction" in [one.label for one in app.toggle]
    assert not open_page("answers", part="judges", run=run, corrected="1").problems


@pytest.mark.model
@pytest.mark.usefixtures("sample_answers")
def test_nuggets_are_matched_by_a_threshold(open_page: OpenPage) -> None:
    app = open_page("answers", part="answers", question="ankle", system="Heron", threshold="0")
    assert "Recall 100.0% (4 of 4 gold nuggets)" in app.words
    assert (
        "(0 of 4 gold nuggets)"
        in open_page("answers", part="answers", question="ankle", threshold="100").words
    )


def test_hostile_text_stays_text(open_page: OpenPage, empty_store: Store) -> None:
    sentence = {
        "id": HOSTILE, "text": f"{HOSTILE} [1].", "citations": ["1"],
        "assessments": [{"document": "1", "relation": "neutral", "excerpt": HOSTILE}],
    }  # fmt: skip
    lines = [
        {
            "kind": "question",
            "question_id": HOSTILE,
            "question": HOSTILE,
            "nuggets": [HOSTILE],
            "reference": HOSTILE,
        },
        {"kind": "document", "document_id": "1", "title": HOSTILE, "text": HOSTILE},
        {
            "kind": "answer",
            "question_id": HOSTILE,
            "system": HOSTILE,
            "answer": HOSTILE,
            "sentences": [sentence],
        },
    ]
    add_answers(
        empty_store, HOSTILE, [(f"line {n}", json.loads(json.dumps(line))) for n, line in enumerate(lines)]
    )
    for part in ("systems", "answers", "judges", "sets"):
        app = open_page("answers", part=part)
        assert not app.problems
        for drawn in app.markdown:
            assert "<b>" not in drawn.value.replace("\\<b", ""), drawn.value


def test_it_is_renamed_and_deleted(open_page: OpenPage, empty_store: Store) -> None:
    judge_sample(empty_store)
    app = open_page("answers", set="sample answers").fill("Name of the set", "birds").press("Rename")
    assert app.address["set"] == "birds"
    app.named("checkbox", "Delete birds, with 18 answers and 1 run").check()
    app.run().press("Delete")
    assert answer_sets(empty_store) == ()
