"""Work with a server that takes a while: embeddings in Browse, runs that are stopped and resumed, a typed key."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from components.app.resources import jobs
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.llm.server import Handler, Step, answering, body, reply, scripted, status
from tests.pages.app import (
    SECRET,
    App,
    OpenPage,
    assert_kept_nowhere,
    drawn,
    listing,
    resume_run,
    start_run,
    with_server,
)

pytestmark = pytest.mark.usefixtures("own_places", "sample_store")

READ = {"dataset": "sample_data", "instance": "sample_cohort", "task": "er@10"}


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


def job_of(kind: str, state: str) -> str:
    """The note of the only job of a kind, which ended so."""
    (job,) = jobs().jobs(kind)
    assert job.status.state == state
    return job.status.note


# -- embeddings ----------------------------------------------------------------------------------------


def test_embeddings_are_asked_on_a_click_and_then_kept(open_page: OpenPage) -> None:
    adds = "What each pick of embeddings model=tiny adds"
    with scripted(vectors) as server:
        app = open_page("browse", {"llm.server": server.url}, **READ, r="embeddings;model=tiny")
        # 155 sentences and the question, 64 a call.
        assert "embeddings model=tiny** has not answered this yet. About 3 calls" in app.words
        assert not server.requests
        app.ask()
        n_asked = len(server.requests)
        assert {request.path for request in server.requests} == {"/v1/embeddings"}
        assert adds in app.words
        assert not [
            label for label in app.labels("expander") if "what it was asked" in label
        ]  # no words to show
        assert adds in app.run(task="er@optimal").words
        assert len(server.requests) == n_asked  # the same vectors


def test_embeddings_that_do_not_come_are_said(open_page: OpenPage) -> None:
    with scripted(status(404, "no such model")) as server:
        app = open_page("browse", {"llm.server": server.url}, **READ, r="embeddings;model=tiny").ask()
        assert "answers 404" in app.words
        assert "Try again" in app.labels()


# -- a run, also one that is stopped and goes on --------------------------------------------------------


def started(kept: Mapping[str, str]) -> App:
    """A run of the model over the sample papers for ER@10, through."""
    app = drawn(start_run, "sample_data", "er@10", kept=kept)
    app.selectbox(key="run.retriever").set_value("llm").run()
    app.multiselect(key="run.tasks.er@10").set_value(["er@10"]).run()
    assert "6 instances, about 6 calls" in app.words
    assert "the price of tiny is not known: tokens only" in app.words
    return app.ask("Start")


def test_a_run_counts_what_came_back_and_what_it_took(open_page: OpenPage, sample_store: Store) -> None:
    answers = iter([reply("DECISION: [0]"), reply("DECISION: []"), status(400, "no"), reply("Hm.")])
    lock = threading.Lock()

    def answer(request: dict[str, object]) -> Step:
        with lock:
            return next(answers, reply("DECISION: [1, 2]"))

    with scripted(answering(answer)) as server:
        started(with_server(server.url))
    took = "Asked: 5 calls, 550 tokens, price unknown, 1 failed call."
    assert f"5 of 6 instances answered, 1 failed. {took}" in job_of("run", "done")
    (run,) = RunStore(sample_store).runs("sample_data")
    app = open_page("runs", dataset="sample_data", task="er@10")
    assert app.dataframe[0].value.shape[0] == 1
    counts = RunStore(sample_store).outcomes(run.id)["er@10"].as_dict()
    expected = {"selection": 3, "empty": 1, "no_list": 1, "failed": 1}
    assert {kind: n for kind, n in counts.items() if n} == expected


def test_a_cap_stops_the_run_and_is_said(open_page: OpenPage) -> None:
    with scripted(reply("DECISION: [0]")) as server:
        started(with_server(server.url, calls="2"))
        assert len(server.requests) == 2
        assert "the cap of 2 calls is reached" in job_of("run", "stopped")
        app = open_page("runs", dataset="sample_data", task="er@10")
        app.press("Resume llm")
        assert len(server.requests) == 2  # the dialog first tells what it will take


def test_a_run_that_reached_its_cap_goes_on_and_asks_nothing_twice(sample_store: Store) -> None:
    asked: list[str] = []

    def say(request: dict[str, Any]) -> Step:
        asked.append(json.dumps(request["messages"]))
        return status(400, "no") if len(asked) == 2 else reply("DECISION: [0]")

    with scripted(answering(say)) as server:
        started(with_server(server.url, calls="4"))
        job_of("run", "stopped")
        (run,) = RunStore(sample_store).runs("sample_data")
        n_done = run.tasks["er@10"]
        assert n_done <= 4
        assert run.n_failed == 1
        with sample_store.write() as db:
            db.execute(
                "INSERT INTO llm_batches (file_id, run_id, address, begun_at) VALUES ('a', ?, ?, '')",
                (run.id, server.url),
            )
        app = drawn(resume_run, "sample_data", "er@10", kept=with_server(server.url))
        assert f"{6 - n_done} instances, about {6 - n_done} calls" in app.words
        assert "1 batch of this run may still be under way" in app.problems
        app.ask("Resume")
        job_of("run", "done")
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.tasks["er@10"], run.n_failed) == (6, 0)
    # Six questions; only the one that failed was sent twice.
    assert (len(set(asked)), len(asked)) == (6, 7)


# -- the key ---------------------------------------------------------------------------------------------------


def choose_server() -> None:
    """A script: the dialog of the model server."""
    from components.models.server import server_dialog

    server_dialog()


def test_a_typed_key_goes_to_its_server_and_nowhere_else(
    open_page: OpenPage, sample_store: Store, logged: io.StringIO
) -> None:
    """From the password field through a connection that is tried, a question and a run that both fail."""
    with scripted(listing(status(401, f"Incorrect API key provided: {SECRET}"))) as server:
        dialog = drawn(choose_server)
        dialog.fill("Address", server.url).fill("Model", "tiny").fill("Key", SECRET)
        seen = [dialog.words, dialog.press("Try the connection").words]
        key = f"llm.key.{server.url}"
        assert dialog.session_state[f"kept.{key}"] == SECRET
        kept = with_server(server.url) | {key: SECRET}
        app = open_page("browse", kept, **READ, r="llm;model=tiny").ask()
        seen.append(app.words + str(app.address))
        run = started(kept)
        seen.append(run.words + job_of("run", "failed"))
        assert all("answers 401" in words for words in seen[1:])
        sent = [request for request in server.requests if "authorization" in request.headers]
        assert len(sent) >= 4
        assert {request.headers["authorization"] for request in sent} == {f"Bearer {SECRET}"}
        assert not [one for one in server.requests if SECRET in json.dumps(one.json) + one.path]
    assert all(one.value != SECRET for page in (dialog, app, run) for one in page.text_input)
    assert SECRET not in "".join(seen) + logged.getvalue() + str(jobs().jobs())
    assert_kept_nowhere(SECRET, sample_store)
