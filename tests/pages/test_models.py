"""Models: the server, its key, prices and prompts; and a model asked from Browse and from the Leaderboard."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.resources import jobs
from evidencebench_core.data import Store
from evidencebench_core.llm import price_of, prompt_names
from evidencebench_core.runs import RunStore
from tests.llm.server import (
    Handler,
    Step,
    answering,
    body,
    completion,
    reply,
    scripted,
    stall,
    status,
    stream,
)
from tests.llm.server import delta as piece
from tests.pages.asking import LISTED, SECRET, click, listing, said, type_into, with_model
from tests.pages.conftest import ROOT, OpenPage, address
from tests.pages.waiting import jobs_ended

ANSWER = "0: <img src=x onerror=alert(1)> it names the *cohort*\n3: the result\nDECISION: [0, 3]"
MODEL = "llm;model=tiny"

OpenModels = Callable[..., AppTest]

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.fixture
def open_models() -> OpenModels:
    """The page on its own, as `app.py` would run it."""

    def opened(**params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages" / "models.py"), default_timeout=60)
        app.session_state["entered"] = True
        for name, value in params.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return opened


# -- the server ---------------------------------------------------------------------------------------


def test_the_empty_page_teaches(open_models: OpenModels) -> None:
    app = open_models()
    assert "Three steps" in said(app)
    assert "No key for `https://api.openai.com/v1`" in said(app)
    assert [b.label for b in app.button if b.label == "Try the connection"]


def test_one_click_lists_the_models_and_asks_the_chosen_one(open_models: OpenModels) -> None:
    with scripted(listing(reply("ready"))) as server:
        app = open_models()
        type_into(app, "Address", server.url)
        click(app, "Try the connection")
        assert "The server is there: 2 models listed. Choose one" in said(app)
        choice = next(one for one in app.selectbox if one.label == "Model")
        assert choice.options == ["<b>bold</b>", "tiny"]
        choice.set_value("tiny").run()
        click(app, "Try the connection")
        assert "The server is there: 2 models listed; tiny answered in" in said(app)
        assert server.requests[-1].json["model"] == "tiny"
        assert "authorization" not in server.requests[-1].headers  # a local server needs no key


def test_a_server_without_a_list_takes_the_models_name_as_text(open_models: OpenModels) -> None:
    with scripted(status(404), reply("ready")) as server:
        app = open_models()
        type_into(app, "Address", server.url)
        type_into(app, "Model", " tiny ")
        click(app, "Try the connection")
        assert "it has no list of models; tiny answered in" in said(app)


def test_a_refused_key_is_said_without_it(open_models: OpenModels) -> None:
    with scripted(status(401, f"Incorrect API key provided: {SECRET}")) as server:
        app = open_models()
        type_into(app, "Address", server.url)
        type_into(app, "Key", SECRET)
        click(app, "Try the connection")
        assert "answers 401" in said(app)
        assert SECRET not in said(app)
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_typed_key_is_taken_out_of_its_field_and_can_be_forgotten(open_models: OpenModels) -> None:
    app = open_models()
    type_into(app, "Key", SECRET)
    assert all(one.value != SECRET for one in app.text_input)
    assert "A key for `https://api.openai.com/v1` is kept for this session" in said(app)
    assert SECRET not in str(address(app))
    click(app, "Forget it")
    assert "No key for `https://api.openai.com/v1`" in said(app)


@pytest.mark.parametrize("text", ["ключ-1234", "two words", "line\nbreak"])
def test_what_cannot_be_a_key_is_not_taken(open_models: OpenModels, text: str) -> None:
    app = open_models()
    type_into(app, "Key", text)
    assert "No key for" in said(app)
    assert any("It was not taken" in one.value for one in app.toast)


def test_no_key_goes_to_a_server_that_it_was_not_given_for(
    open_models: OpenModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with scripted(body(LISTED)) as server:
        app = open_models()
        assert "The key of the environment" in said(app)
        type_into(app, "Key", SECRET)  # for OpenAI
        type_into(app, "Address", server.url)
        click(app, "Try the connection")
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    "text",
    ["localhost:8000", "file:///etc/passwd", "http://", "http://me:pw@host/v1", "http://host/v1?key=a"],
)
def test_what_is_no_address_is_said_and_not_taken(open_models: OpenModels, text: str) -> None:
    app = open_models()
    type_into(app, "Address", text)
    assert any("address of the server" in one.value for one in app.toast)
    assert "No key for `https://api.openai.com/v1`" in said(app)


def test_an_unknown_part_in_the_address_is_said(open_models: OpenModels) -> None:
    assert "There is no part nonsense" in said(open_models(part="nonsense"))


# -- prices and prompts ---------------------------------------------------------------------------------


def test_prices_are_shown_with_their_model(open_models: OpenModels) -> None:
    app = open_models(part="prices")
    assert "Check them at the source" in said(app)
    assert "gpt-4o-mini" in set(app.dataframe[0].value["model"])


def test_a_prompt_is_read_copied_and_edited(open_models: OpenModels) -> None:
    app = open_models(part="prompts", prompt="cot")
    assert "$hypothesis" in app.code[0].value
    type_into(app, "Name of the copy", "my-own")
    click(app, "Copy to edit")
    assert "my-own" in prompt_names()
    assert address(app)["prompt"] == "my-own"
    app.text_area[0].set_value("version: 2\n\n=== user ===\n$hypothesis $unknown").run()
    click(app, "Save")
    assert "unknown field $unknown" in said(app) + "".join(one.value for one in app.error).replace("\\", "")
    app.text_area[0].set_value("version: 2\n\n=== user ===\n$hypothesis $sentences").run()
    click(app, "Save")
    assert app.text_area[0].value == "version: 2\n\n=== user ===\n$hypothesis $sentences\n"


@pytest.mark.parametrize("name", ["cot", "../escape", ""])
def test_a_copy_needs_a_name_of_its_own(open_models: OpenModels, tmp_path: Path, name: str) -> None:
    app = open_models(part="prompts", prompt="cot")
    before = prompt_names()
    type_into(app, "Name of the copy", name)
    click(app, "Copy to edit")
    assert app.error
    assert prompt_names() == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_unknown_prompt_in_the_address_is_said(open_models: OpenModels) -> None:
    assert "There is no prompt <script>" in said(open_models(part="prompts", prompt="<script>"))


# -- one instance ---------------------------------------------------------------------------------------


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


# -- a dataset ------------------------------------------------------------------------------------------


def dialog() -> None:
    from components.resources import named_dataset
    from components.run_starter import run_dialog
    from evidencebench_core.tasks import task_named

    run_dialog(named_dataset("sample_data"), task_named("er@10"))


def started(server_url: str, **caps: str) -> AppTest:
    app = with_model(AppTest.from_function(dialog, default_timeout=60), server_url, **caps)
    app.selectbox(key="run.retriever").set_value("llm").run()
    app.multiselect(key="run.tasks.er@10").set_value(["er@10"]).run()
    assert not app.exception
    assert "6 instances, about 6 calls" in said(app)
    assert "the price of tiny is not known: tokens only" in said(app)
    app.button(key="run.start").click().run()
    assert not app.exception
    jobs_ended()
    return app


def test_a_run_counts_what_came_back_and_what_it_took(open_page: OpenPage, sample_store: Store) -> None:
    answers = iter([reply("DECISION: [0]"), reply("DECISION: []"), status(400, "no"), reply("Hm.")])
    lock = threading.Lock()

    def answer(request: dict[str, object]) -> Step:
        with lock:
            return next(answers, reply("DECISION: [1, 2]"))

    with scripted(answering(answer)) as server:
        started(server.url)
    (job,) = jobs().jobs("run")
    assert job.status.state == "done"
    assert (
        "5 instances answered, 1 failed. Asked: 5 calls, 550 tokens, price unknown, 1 failed call."
        in job.status.note
    )
    (run,) = RunStore(sample_store).runs("sample_data")
    app = open_page("leaderboard", dataset="sample_data", task="er@10")
    assert "What came back from the models" in said(app)
    counts = RunStore(sample_store).outcomes(run.id)["er@10"].as_dict()
    assert {kind: n for kind, n in counts.items() if n} == {
        "selection": 3,
        "empty": 1,
        "no_list": 1,
        "failed": 1,
    }


def test_a_cap_stops_the_run_and_is_said(open_page: OpenPage, sample_store: Store) -> None:
    with scripted(reply("DECISION: [0]")) as server:
        started(server.url, calls="2")
        assert len(server.requests) == 2
    (job,) = jobs().jobs("run")
    assert job.status.state == "stopped"
    app = open_page("leaderboard", dataset="sample_data", task="er@10")
    assert "Stopped after" in said(app)
    assert "the cap of 2 calls is reached" in said(app)
    next(b for b in app.button if b.label.startswith("Resume")).click().run()
    assert not app.exception
    assert jobs().jobs("run") == (job,)  # the dialog first tells what it will take


def test_a_price_in_the_users_table_is_known(open_models: OpenModels) -> None:
    from components.llm.prices import save_prices
    from evidencebench_core.llm import Price

    save_prices({'my "model" \\ ü': Price(1.0, 2.5, "2026-01", "me")})
    assert price_of('my "model" \\ ü') == Price(1.0, 2.5, "2026-01", "me")
    assert completion("x")["usage"]["prompt_tokens"] == 100
