"""A model asked about one instance, in Browse: on a click, while one watches, and what it said."""

from __future__ import annotations

import io
import json
import threading

import pytest
from streamlit.testing.v1 import AppTest

from components.app.resources import jobs
from evidencebench_core.data import Store
from tests.llm.server import (
    Handler,
    Step,
    reply,
    scripted,
    stall,
    status,
    stream,
)
from tests.llm.server import delta as piece
from tests.pages.asking import SECRET, click, said
from tests.pages.conftest import OpenPage, address
from tests.pages.waiting import jobs_ended

ANSWER = "0: <img src=x onerror=alert(1)> it names the *cohort*\n3: the result\nDECISION: [0, 3]"
MODEL = "llm;model=tiny"

pytestmark = pytest.mark.usefixtures("own_places")


def browse(open_page: OpenPage, server_url: str, retriever: str = MODEL, **params: str) -> AppTest:
    """An instance in Browse, in a session with that server."""
    app = open_page("browse", dataset="sample_data", instance="sample_cohort", r="lead", task="er@10")
    app.session_state["kept.llm.server"] = server_url
    for name, value in {"r": retriever, **params}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


@pytest.mark.usefixtures("sample_store")
def test_a_model_is_asked_on_a_click_only_and_then_kept(open_page: OpenPage) -> None:
    with scripted(reply(ANSWER)) as server:
        app = browse(open_page, server.url)
        assert "has not answered this yet. About 1 call" in said(app)
        assert "price unknown" in said(app)
        assert not server.requests
        click(app, "Ask the model")
        jobs_ended()
        app.run()
        assert "a selection" in said(app)
        assert "What each pick of llm model=tiny adds" in said(app)
        app.run()
        assert len(server.requests) == 1  # never paid twice


@pytest.mark.usefixtures("sample_store")
def test_the_models_words_are_shown_as_letters_beside_its_pick(open_page: OpenPage) -> None:
    with scripted(reply(ANSWER)) as server:
        app = browse(open_page, server.url)
        click(app, "Ask the model")
        jobs_ended()
        app.query_params["sentence"] = "0"
        app.run()
        words = next(one.value for one in app.markdown if "In its words" in one.value)
        assert r"\<img src\=x onerror\=alert\(1\)\> it names the \*cohort\*" in words
        fold = next(one for one in app.expander if "what it was asked and what it said" in one.label)
        assert any(one.value == ANSWER for one in fold.code)
        assert any("100 + 10 tokens" in one.value for one in fold.markdown)
        fold.toggle[0].set_value(True).run()
        fold = next(one for one in app.expander if "what it was asked and what it said" in one.label)
        assert any("<hypothesis>" in one.value for one in fold.code)


@pytest.mark.usefixtures("sample_store")
def test_a_huge_answer_is_shown_from_both_ends(open_page: OpenPage) -> None:
    huge = "begins " + "x" * 400_000 + " ends\nDECISION: [0]"
    with scripted(reply(huge)) as server:
        app = browse(open_page, server.url)
        click(app, "Ask the model")
        jobs_ended()
        app.run()
        assert "of 400,026 characters are left out in the middle" in said(app)
        shown = next(one.value for one in app.code if one.value.startswith("begins"))
        assert shown.endswith(" ends\nDECISION: [0]")
        assert len(shown) < 201_000


@pytest.mark.usefixtures("sample_store")
def test_the_answer_streams_in_while_the_page_stays(open_page: OpenPage) -> None:
    over, tick = threading.Event(), threading.Event()
    begin = piece("Thinking **about** it")
    end = f"data: {json.dumps(piece(' DECISION: [0]', 'stop'))}\n\ndata: [DONE]\n\n".encode()

    def finish(handler: Handler) -> None:
        over.wait(60)
        handler.wfile.write(end)

    with scripted(stream(begin, done=False, then=finish)) as server:
        app = browse(open_page, server.url)
        click(app, "Ask the model")
        (job,) = jobs().jobs("ask")
        while not (job.feed and job.feed()):
            tick.wait(0.01)
        app.run()
        assert "is answering, whole paper" in said(app)
        assert any(one.value == "Thinking **about** it" for one in app.code)
        over.set()
        jobs_ended()
        app.run()
        assert "a selection" in said(app)


@pytest.mark.usefixtures("sample_store")
def test_a_stopped_question_says_so_and_can_be_asked_again(open_page: OpenPage) -> None:
    with scripted(stall()) as server:
        app = browse(open_page, server.url)
        click(app, "Ask the model")
        (job,) = jobs().jobs("ask")
        job.cancel()
        jobs_ended()
        app.run()
        assert "was stopped" in said(app)
        assert [b.label for b in app.button if b.label == "Try again"]


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize(
    ("step", "name"),
    [
        (reply("I see nothing. DECISION: []"), "chose nothing"),
        (reply("I would rather talk about it."), "no list found"),
        (reply("DECISION: [9999]"), "only indices not shown"),
        (reply("Hm", finish_reason="length"), "cut off by the token limit"),
        (
            reply(None, message={"role": "assistant", "content": None, "refusal": "I cannot."}),
            "refused",
        ),
    ],
)
def test_what_came_back_is_told_by_name(open_page: OpenPage, step: Step, name: str) -> None:
    with scripted(step) as server:
        app = browse(open_page, server.url)
        click(app, "Ask the model")
        jobs_ended()
        app.run()
        assert f"**{name}**" in said(app)


@pytest.mark.usefixtures("sample_store")
def test_a_failed_call_says_why_and_holds_no_key(
    open_page: OpenPage, logged: io.StringIO, sample_store: Store
) -> None:
    with scripted(status(401, f"no such key: {SECRET}")) as server:
        app = browse(open_page, server.url)
        app.session_state[f"kept.llm.key.{server.url}"] = SECRET
        app.run()
        click(app, "Ask the model")
        jobs_ended()
        app.run()
        shown = said(app)
        assert "**call failed.**" in shown
        assert "answers 401" in shown
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in shown + logged.getvalue() + str(address(app)) + str(jobs().jobs())
    for path in sample_store.path.parent.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.usefixtures("sample_store")
def test_without_a_model_it_leads_to_the_page_models(open_page: OpenPage) -> None:
    app = browse(open_page, "http://127.0.0.1:9/v1", "llm")
    assert "has no model yet" in said(app)
    assert [b.label for b in app.button if b.label == "Open Models"]
