"""Work with a server that takes a while: embeddings in Browse, runs resumed, wordings asked of a model."""

from __future__ import annotations

import io
import json
import threading
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.app.resources import jobs
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.llm.server import Handler, Step, answering, body, reply, scripted, status
from tests.pages.asking import SECRET, click, listing, said, type_into, with_model
from tests.pages.conftest import ROOT, OpenPage, address
from tests.pages.waiting import jobs_ended

pytestmark = pytest.mark.usefixtures("own_places")


ASKED = {"r": "llm;model=tiny~lead", "question": "negation", "task": "er@10"}


def vectors(handler: Handler) -> None:
    """As long as a text is: the longest come first for the shortest question."""
    request = handler.request_json
    data = [
        {"object": "embedding", "index": place, "embedding": [1.0, len(text) / 1000]}
        for place, text in enumerate(request["input"])
    ]
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    content = {"object": "list", "data": data, "model": request["model"], "usage": usage}
    body(json.dumps(content).encode())(handler)


def opened(open_page: OpenPage, page: str, server_url: str, **params: str) -> AppTest:
    app = open_page(page, dataset="sample_data")
    app.session_state["kept.llm.server"] = server_url
    for name, value in params.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


# -- embeddings ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("sample_store")
def test_embeddings_are_asked_on_a_click_and_then_kept(open_page: OpenPage) -> None:
    with scripted(vectors) as server:
        where = {"instance": "sample_cohort", "task": "er@10", "r": "embeddings;model=tiny"}
        app = opened(open_page, "browse", server.url, **where)
        # 155 sentences and the question, 64 a call.
        assert "embeddings model=tiny** has not answered this yet. About 3 calls" in said(app)
        assert not server.requests
        click(app, "Ask the model")
        jobs_ended()
        n_asked = len(server.requests)
        assert {request.path for request in server.requests} == {"/v1/embeddings"}
        app.run()
        assert "What each pick of embeddings model=tiny adds" in said(app)
        assert not [one for one in app.expander if "what it was asked" in one.label]  # no words to show
        app.query_params["task"] = "er@optimal"
        app.run()
        assert "What each pick of embeddings model=tiny adds" in said(app)
        assert len(server.requests) == n_asked  # the same vectors


@pytest.mark.usefixtures("sample_store")
def test_embeddings_that_do_not_come_are_said(open_page: OpenPage) -> None:
    with scripted(status(404, "no such model")) as server:
        where = {"instance": "sample_cohort", "task": "er@10", "r": "embeddings;model=tiny"}
        app = opened(open_page, "browse", server.url, **where)
        click(app, "Ask the model")
        jobs_ended()
        app.run()
        assert "answers 404" in said(app)
        assert "Try again" in [one.label for one in app.button]


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize(("listed", "told"), [("", False), ("tiny:latest", False), ("*big*\nother", True)])
def test_a_model_that_the_server_does_not_list_is_told_before_it_is_asked(
    open_page: OpenPage, listed: str, told: bool
) -> None:
    url = "http://127.0.0.1:9/v1"
    browse = opened(open_page, "browse", url, instance="sample_cohort", task="er@10", r="llm;model=tiny")
    browse.session_state[f"kept.llm.models.{url}"] = listed
    run = AppTest.from_function(start, default_timeout=60)
    run.session_state[f"kept.llm.models.{url}"] = listed
    with_model(run, url).selectbox(key="run.retriever").set_value("llm")
    for app in (browse, run):
        app.run()
        assert not app.exception
        assert ("The server does not list tiny, but *big*, other" in said(app)) == told


# -- a run, also one that is stopped and goes on -------------------------------------------------------------------


def start() -> None:
    from components.app.resources import named_dataset
    from components.leaderboard.start import run_dialog
    from evidencebench_core.tasks import task_named

    run_dialog(named_dataset("sample_data"), task_named("er@10"))


def resume() -> None:
    from components.app.resources import named_dataset, runs
    from components.leaderboard.start import resume_dialog
    from evidencebench_core.tasks import task_named

    dataset = named_dataset("sample_data")
    resume_dialog(dataset, task_named("er@10"), runs(dataset)[0])


def dialog(function: Any, server_url: str, **caps: str) -> AppTest:
    return with_model(AppTest.from_function(function, default_timeout=60), server_url, **caps)


def started(server_url: str, **caps: str) -> AppTest:
    app = dialog(start, server_url, **caps)
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


def test_a_run_that_reached_its_cap_goes_on_and_asks_nothing_twice(sample_store: Store) -> None:
    asked: list[str] = []

    def say(request: dict[str, Any]) -> Step:
        asked.append(json.dumps(request["messages"]))
        return status(400, "no") if len(asked) == 2 else reply("DECISION: [0]")

    with scripted(answering(say)) as server:
        app = dialog(start, server.url, calls="4")
        app.selectbox(key="run.retriever").set_value("llm").run()
        app.multiselect(key="run.tasks.er@10").set_value(["er@10"]).run()
        app.button(key="run.start").click().run()
        jobs_ended()
        (job,) = jobs().jobs("run")
        assert job.status.state == "stopped"
        (run,) = RunStore(sample_store).runs("sample_data")
        n_done = run.tasks["er@10"]
        assert n_done <= 4
        assert run.n_failed == 1

        with sample_store.write() as db:
            db.execute(
                "INSERT INTO llm_batches (name, run_id, address, begun_at) VALUES ('a', ?, ?, '')",
                (run.id, server.url),
            )
        app = dialog(resume, server.url)
        assert f"{6 - n_done} instances, about {6 - n_done} calls" in said(app)
        under_way = "1 batch of this run may still be under way at http"
        assert under_way in said(app)
        app.radio[0].set_value("batch").run()
        assert under_way not in said(app)
        app.radio[0].set_value("local").run()
        app.button(key="run.resume").click().run()
        jobs_ended()
        (job,) = jobs().jobs("run")
        assert job.status.state == "done"
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.tasks["er@10"], run.n_failed) == (6, 0)
    # Six questions; only the one that failed was sent twice.
    assert len(set(asked)) == 6
    assert len(asked) == 7


# -- other wordings asked of a model -----------------------------------------------------------------------


def wordings() -> None:
    from components.app.choices import Choice
    from components.app.resources import named_dataset
    from components.wording.asking import ask_dialog, systems_of
    from evidencebench_core.tasks import task_named

    dataset = named_dataset("sample_data")
    choices = (Choice("llm", {"model": "tiny"}), Choice("lead"))
    ask_dialog(dataset, systems_of(dataset, task_named("er@10"), choices), "negation")


@pytest.mark.usefixtures("sample_store")
def test_a_model_is_asked_in_every_wording_after_an_estimate(open_page: OpenPage) -> None:
    with scripted(reply("DECISION: [0]")) as server:
        app = opened(open_page, "wording", server.url, **ASKED)
        assert "the next step tells what it will take, and nothing is asked before" in said(app)
        click(app, "Ask what is missing")
        assert not server.requests
        app = dialog(wordings, server.url, calls="2")
        app.number_input(key="wording.limit." + str(1)).set_value(2).run()
        # Two instances: as they are, negated in the data, negated by rule (as many as the rules can).
        assert "wordings, about" in said(app)
        click(app, "Start")
        jobs_ended()
        (job,) = jobs().jobs("wording")
        assert job.status.state == "stopped"
        assert "Asked: 2 calls" in job.status.note
        app = dialog(wordings, server.url)
        click(app, "Start")
        jobs_ended()
        (job,) = jobs().jobs("wording")
        assert job.status.state == "done"
        assert job.status.note.startswith("Every wording is answered.")
        n_asked = len(server.requests)
        app = opened(open_page, "wording", server.url, **ASKED)
        assert "have no answer yet" not in said(app)
        assert "Instance by instance" in said(app)
        assert len(server.requests) == n_asked


@pytest.mark.usefixtures("sample_store")
def test_wordings_without_an_answer_are_not_said_to_have_one(open_page: OpenPage) -> None:
    n_asked = iter(range(1000))

    def say(request: dict[str, Any]) -> Step:
        return status(400, "no") if next(n_asked) == 3 else reply("DECISION: [0]")

    with scripted(answering(say)) as server:
        app = dialog(wordings, server.url)
        click(app, "Start")
        jobs_ended()
        (job,) = jobs().jobs("wording")
        assert "Every wording was asked; 1 got no answer" in job.status.note
        app = opened(open_page, "wording", server.url, **ASKED)
        assert "1 queries" in said(app)


@pytest.mark.usefixtures("sample_store")
def test_a_model_to_be_chosen_leads_to_models(open_page: OpenPage) -> None:
    app = opened(open_page, "wording", "http://127.0.0.1:9/v1", r="llm")
    assert "has no model yet" in said(app)
    assert "Open Models" in [one.label for one in app.button]
    assert "Choose at least one retriever" not in said(app)


# -- the key ---------------------------------------------------------------------------------------------------


def test_a_typed_key_goes_to_its_server_and_nowhere_else(sample_store: Store, logged: io.StringIO) -> None:
    """From the password field through a connection that is tried, a question and a run that both fail."""
    with scripted(listing(status(401, f"Incorrect API key provided: {SECRET}"))) as server:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        app.run()
        app.switch_page("pages/models.py")
        app.run()
        type_into(app, "Address", server.url)
        type_into(app, "Model", "tiny")
        type_into(app, "Key", SECRET)
        seen = [said(app)]
        click(app, "Try the connection")
        seen.append(said(app))
        assert "answers 401" in seen[-1]
        app.switch_page("pages/browse.py")
        app.query_params.update(
            {"dataset": "sample_data", "instance": "sample_cohort", "r": "llm;model=tiny"}
        )
        app.run()
        click(app, "Ask the model")
        jobs_ended()
        app.run()
        seen.append(said(app) + str(address(app)))
        assert "answers 401" in seen[-1]
        app.switch_page("pages/wording.py")
        app.query_params.update({"part": "make"})
        app.run()
        click(app, "Write drafts")
        jobs_ended()
        app.run()
        seen.append(said(app) + str(address(app)))
        sent = [request for request in server.requests if "authorization" in request.headers]
        assert len(sent) >= 4
        assert {request.headers["authorization"] for request in sent} == {f"Bearer {SECRET}"}
        assert not [
            request for request in server.requests if SECRET in json.dumps(request.json) + request.path
        ]
    assert all(one.value != SECRET for one in app.text_input)
    assert SECRET not in "".join(seen) + logged.getvalue() + str(jobs().jobs())
    for path in sample_store.path.parent.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
