"""Answers: systems, one answer with what it cites, judges, files of one's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.answers import nuggets
from evidencebench_core.answers.agreement import human_units
from evidencebench_core.answers.model import unit_id
from evidencebench_core.answers.read import SAMPLE, answer_set, read_answers
from evidencebench_core.answers.store import Mark, add_answers, add_mark, answer_sets, marks
from evidencebench_core.data import Store
from evidencebench_core.runs import ChatRuns, ChatRunSpec
from tests.answers.judging import add_sample, judge_run, judge_sample
from tests.llm.server import answering, reply, scripted
from tests.pages.app import App, OpenPage, drawn, with_server

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
    ):
        assert text in app.words, text
    app = open_page(
        "answers", part="answers", question="migraine", system="Magpie", sentence="3", document="999999"
    )
    assert "does not have this" in app.words
    app = open_page("answers", part="answers", question="migraine", system="Cuckoo")
    assert "Judged inaccurate" in app.words
    app = open_page("answers", part="answers", question="nonsense", system="nobody")
    assert "There is no question nonsense" in app.words


def test_judges(open_page: OpenPage, empty_store: Store, sample_answers: str) -> None:
    assert "No model has judged these answers yet" in open_page("answers", part="judges").words
    run = judge_sample(empty_store)
    app = open_page("answers", part="judges", run=run)
    assert "39 units" in app.words
    assert "Without a label: 1 (2.6%);" in app.words
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
    app.named("selectbox", "Right label").set_value("required").run()
    (mark,) = marks(empty_store, sample_answers)
    assert (mark.unit, mark.value, mark.author, mark.before) == (unit, "required", "Ana", "unnecessary")
    app = open_page("answers", part="judges", run=run)
    assert "Accuracy" not in app.problems
    assert "With 1 correction" in [one.label for one in app.toggle]
    assert not open_page("answers", part="judges", run=run, corrected="1").problems


def test_disagreements_are_a_queue_with_notes(
    open_page: OpenPage, empty_store: Store, sample_answers: str
) -> None:
    assert "Once a model has judged" in open_page("answers", part="queue").words
    human = human_units(answer_set(read_answers([SAMPLE])), "ternary").labels
    wrong = {"supports": "contradicts", "contradicts": "neutral", "neutral": "neutral"}
    labels: dict[str, str | None] = {unit: wrong[label] for unit, label in human.items()}
    run = judge_run(empty_store, sample_answers, "citations", labels)
    n = sum(wrong[label] != label for label in human.values())
    worst = next(unit for unit, label in human.items() if label == "supports")
    app = open_page("answers", part="queue", run=run)
    assert f"{n} units, the worst first; 0 with a note." in app.words
    assert f"1 of {n}" in app.words
    app.fill("Your name", "Ana").fill("Note", "The judge misread it.", "text_area")
    (note,) = marks(empty_store, sample_answers)
    assert (note.what, note.unit, note.value, note.author) == ("note", worst, "The judge misread it.", "Ana")
    assert f"{n} units, the worst first; 1 with a note." in app.words
    app.press("Next")
    assert f"2 of {n}" in app.words
    app.press("Read the whole answer")
    assert app.address["part"] == "answers"
    one = open_page("answers", part="queue", run=run, human="contradicts", judged="neutral")
    assert f"1 of {sum(label == 'contradicts' for label in human.values())}" in one.words
    assert (
        "There is nothing with these labels"
        in open_page("answers", part="queue", run=run, human="neutral", judged="supports").words
    )


def test_systems_by_a_judge_and_their_differences(open_page: OpenPage, empty_store: Store) -> None:
    run = judge_sample(empty_store)
    people = open_page("answers", metric="coverage", against="Magpie")
    assert "Coverage of Magpie minus that of the other" in people.words
    assert "Holm for all 3 pairs" in people.words
    assert "a model's opinion" not in people.words
    assert "a model's opinion" in open_page("answers", labels=run).words
    wrong = open_page("answers", labels="nonsense", against="nobody").problems
    assert "There is no run nonsense" in wrong
    assert "There is no value of nobody" in wrong


def dialog() -> None:
    """A script: the dialog on its own."""
    from components.answers import start
    from components.app import resources
    from evidencebench_core.answers.store import answer_sets

    start.judge_dialog(answer_sets(resources.store())[0])


def truthful(sent: dict[str, Any]) -> Any:
    """Supports what shares its number with the document."""
    text = str(sent["messages"][-1]["content"])
    return reply("LABEL: supports" if "half" in text else "LABEL: neutral")


@pytest.mark.usefixtures("sample_answers")
def test_a_judge_is_estimated_started_stopped_by_a_cap_and_resumed(
    empty_store: Store, open_page: OpenPage
) -> None:
    with scripted(answering(truthful), listed=("tiny",)) as server:
        app = drawn(dialog, kept=with_server(server.url, calls="5"))
        assert "citations, about" in app.words
        assert not server.requests
        app.press("Judge").finish()
        (run,) = ChatRuns(empty_store).runs("answers")
        assert run.n_answered == 5
        app = drawn(dialog, kept=with_server(server.url))
        app.press("Judge").finish()
        (run,) = ChatRuns(empty_store).runs("answers")
        assert len(server.requests) == run.n_answered > 30
        assert "Nothing is left to ask" in App(app.test).words
        app = drawn(dialog, kept=with_server(server.url))
        app.named("selectbox", "Question to the judge").set_value("correctness").run()
        assert "sentences, about" in app.words
        words = open_page("answers", part="judges", run=run.id).words
        assert f"{run.n_answered} judged" in words


@pytest.mark.model
@pytest.mark.usefixtures("sample_answers")
def test_a_judge_by_similarity_needs_no_model(empty_store: Store, open_page: OpenPage) -> None:
    app = drawn(dialog)
    app.named("segmented_control", "Judged by").set_value("cosine").run()
    assert "cannot tell a sentence from its opposite" in app.words
    app.press("Judge").finish()
    (run,) = ChatRuns(empty_store).runs("answers")
    assert (run.settings["by"], run.n_answered) == ("cosine", 39)

    def judged(**options: str) -> str:
        app = open_page("answers", part="judges", run=run.id, **options)
        assert "39 units" in app.words
        assert not app.problems
        return app.words

    assert judged(supports="60") != judged(supports="100")
    judged(unparsed="leave_out", precedence="contradict-first")
    assert "minilm, citations by cosine" in open_page("answers", labels=run.id).words


def test_correctness_by_system(open_page: OpenPage, empty_store: Store, sample_answers: str) -> None:
    spec = ChatRunSpec("answers", sample_answers, {"task": "correctness", "model": "scripted"})
    ChatRuns(empty_store).create(spec)
    parts = {
        "parts": [{"text": "LABEL: supports", "window": "Migraine days fell from 4.6 to 3.1"}],
        "n_windows": 1,
    }
    ChatRuns(empty_store).add(spec.id, {unit_id("migraine", "Magpie", "1"): parts})
    assert "by its documents" in open_page("answers", part="judges", run=spec.id).words
    judge_run(
        empty_store,
        sample_answers,
        "relevance",
        {unit_id("migraine", "Magpie", "1"): "required"},
        "relevance",
    )
    assert not open_page("answers", part="queue", run=spec.id).problems  # of another kind
    place = {"question": "migraine", "system": "Magpie", "sentence": "1"}
    assert "judge: ✓ says so" in open_page("answers", part="answers", run=spec.id, **place).words


@pytest.mark.model
@pytest.mark.usefixtures("sample_answers")
def test_systems_by_nuggets(open_page: OpenPage, empty_store: Store, sample_answers: str) -> None:
    app = open_page("answers", part="nuggets", threshold="0")
    assert "Unweighted means over questions" in app.words
    assert "No pair is marked yet" in app.words
    pair = json.dumps(["tamaric tea cut migraine days by half", "tamaric tea cut migraine days"])
    add_mark(empty_store, sample_answers, Mark("nuggets", pair, "same", "Ana"))
    assert "1 pair marked, 1 of them the same" in open_page("answers", part="nuggets").words
    assert (
        "cosine" in open_page("answers", part="nuggets", matcher="mixture").problems
    )  # six questions are too few
    assert not open_page("answers", part="nuggets", matcher="nonsense").error


@pytest.mark.model
@pytest.mark.usefixtures("sample_answers")
def test_many_nuggets_are_compared_by_a_job_the_first_time(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = set[str]()
    monkeypatch.setattr(nuggets, "_MANY", 3)
    monkeypatch.setattr(nuggets, "_AT_ONCE", 5)
    monkeypatch.setattr(nuggets, "are_embedded", lambda _, texts: known.issuperset(texts))
    monkeypatch.setattr(nuggets, "embeddings", lambda _, texts: (known.update(texts) or texts,))
    app = open_page("answers", part="nuggets", threshold="0")
    assert "compared for the first time" in app.words
    assert "Unweighted means" not in app.words
    app.press("Compare them").finish()
    assert f"{len(known):,} of {len(known):,} nuggets read." in app.words
    assert "Unweighted means" in app.words


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
    for part in ("systems", "answers", "nuggets", "judges", "queue", "sets"):
        app = open_page("answers", part=part)
        assert not app.problems
        for shown in app.markdown:
            assert "<b>" not in shown.value.replace("\\<b", ""), shown.value


def test_it_is_renamed_and_deleted(open_page: OpenPage, empty_store: Store) -> None:
    judge_sample(empty_store)
    app = open_page("answers", set="sample answers").fill("Name of the set", "birds").press("Rename")
    assert app.address["set"] == "birds"
    app.named("checkbox", "Delete birds, with 18 answers and 1 run").check()
    app.run().press("Delete")
    assert answer_sets(empty_store) == ()
