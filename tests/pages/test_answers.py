"""The page Answers: systems, one answer with what it cites, judges, disagreements, files of one's own."""

import json
from typing import Any

import pytest

from evidencebench_core.answers.store import ANSWER_SETS, marks
from evidencebench_core.data import Store
from tests.answers.judging import add_sample, judge_sample
from tests.llm.server import Step, answering, reply, scripted
from tests.pages.app import App, OpenPage, table_rows, with_server


def test_systems_and_one_answer(open_page: OpenPage, empty_store: Store) -> None:
    add_sample(empty_store)
    app = open_page("answers", metric="support rate")
    assert "over 6 questions, drawn whole" in app.words
    assert "Citations with a supporting excerpt / citations" in app.words
    assert "There is no set of answers birds" in open_page("answers", set="birds").problems
    assert not app.run(part="set").problems
    app.run(part="answer", question="migraine", system="Magpie", sentence="3")
    for text in ("Can tamaric tea prevent migraine?", "Judged accurate", "says the opposite"):
        assert text in app.words, text
    assert "There is no system Swan" in app.run(system="Swan").problems


def test_a_judge_beside_people_and_what_a_person_decides(open_page: OpenPage, empty_store: Store) -> None:
    run = judge_sample(empty_store)
    subject = ANSWER_SETS.all(empty_store)[0].sha256
    app = open_page("answers", part="judges")
    assert "1 judgement without a label" in app.words
    assert "Kendall's tau" in app.words
    app = open_page("answers", part="differ", kept={"author": "Ana"})
    assert "waiting" in app.words
    app.press("Accept").press("Reject")
    assert sorted(mark.author for mark in marks(empty_store, subject).values()) == ["Ana", "Ana"]
    app.press("Undo")
    assert len(marks(empty_store, subject)) == 1
    app = open_page("answers", by="scripted", metric="coverage")
    assert "By the labels of scripted" in app.words
    (unit,) = marks(empty_store, subject)
    question, system, sentence, document = unit.split("/")
    answer = {"question": question, "system": system, "sentence": sentence, "document": document}
    assert "decided by Ana" in open_page("answers", part="answer", run=run, **answer).words


def cited(request: dict[str, Any]) -> Step:
    """Of a request for an answer, one; of one for a judgement, the label "supports"."""
    if "VERDICT" not in request["messages"][-1]["content"]:
        return reply("LABEL: supports")
    return reply(
        "VERDICT: supports\nANSWER: Night work raises the risk <b>by half</b> [0, 6]. So it is [2, 999]."
    )


def ask_again(app: App) -> None:
    """Start in the open dialog: AppTest draws the whole page, so the dialog is opened in the same run."""
    app.named("button", "Have a model answer").click()
    app.ask("Start")


@pytest.mark.usefixtures("sample_store")
def test_hypotheses_are_answered_on_a_click_and_set_against_gold(open_page: OpenPage) -> None:
    with scripted(answering(cited), listed=("tiny",)) as server:
        app = open_page("answers", kept=with_server(server.url), about="hypotheses")
        assert "No model has answered these hypotheses yet" in app.words
        app.press("Have a model answer")
        assert not server.requests
        ask_again(app)
        assert len(server.requests) == 6
        assert "The model's verdict: supports" in app.words
        first = next(text.value for text in app.markdown if text.value.startswith("## "))
        app.fill("Answer (of 6)", 2, "number_input")
        assert first not in app.raw
        prose = next(data for data in app.component_data if "by half" in json.dumps(data))
        assert [citation["document"] for citation in prose["sentences"][0]["citations"]] == ["0", "6"]
        assert prose["sentences"][1]["note"] == "1 citation of no sentence of the paper"
        assert len(table_rows(app, "against gold")) == 6
        app.press("Have a model answer").named("selectbox", "Question to the model").set_value("judge")
        ask_again(app)
    assert table_rows(app, "against gold")["6"]["cells"][:2] == ["Citations that support, by a judge", 1.0]
    gone = open_page("answers", about="hypotheses", question="x")
    assert "There is no answer to x" in gone.problems
