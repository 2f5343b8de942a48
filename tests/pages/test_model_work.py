"""Models in the app: asked of one instance on a click, runs that are stopped and go on, a typed key."""

import json
import logging
from collections.abc import Mapping

import pytest

from components.resources import jobs
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.llm.server import reply, scripted, status
from tests.pages.app import App, OpenPage, drawn, run_dialog, with_server

pytestmark = pytest.mark.usefixtures("sample_store")

SECRET = "sk-live-0123456789abcdef"  # noqa: S105 - made up
REASONS = "0: <img src=x onerror=alert(1)> it names the *cohort*\n3: the result\nDECISION: [0, 3]"
ANSWER = "x" * 400_000 + "\n" + REASONS
READ = {"dataset": "sample_data", "instance": "sample_cohort", "task": "er@10"}


def browse(open_page: OpenPage, url: str, **kept: str) -> App:
    """An instance in Browse, in a session with that server."""
    return open_page("browse", {"llm.server": url, **kept}, **READ, live="llm;model=tiny")


def test_what_a_model_said_is_kept_as_letters_and_never_paid_for_twice(open_page: OpenPage) -> None:
    with scripted(reply(ANSWER)) as server:
        app = browse(open_page, server.url)
        assert "price unknown" in app.words
        assert not server.requests  # before a click
        app.ask()
        assert "What each pick of llm model=tiny adds" in app.words
        app.run(sentence="0")
        assert len(server.requests) == 1
    words = next(text.value for text in app.markdown if "In its words" in text.value)
    assert r"\<img src\=x onerror\=alert\(1\)\> it names the \*cohort\*" in words
    fold = next(fold for fold in app.expander if "what it was asked and what it said" in fold.label)
    answer = next(code.value for code in fold.code if code.value.endswith(REASONS))
    assert len(answer) < 201_000  # the middle is left out
    assert any("100 + 10 tokens" in text.value for text in fold.markdown)
    fold.toggle[0].set_value(True).run()
    assert any("<hypothesis>" in code.value for code in app.code)


def job_of(kind: str, state: str) -> str:
    """The note of the only job of a kind, which ended so."""
    (job,) = jobs().jobs(kind)
    assert job.status.state == state
    return job.status.note


def started(kept: Mapping[str, str]) -> App:
    """A run of the model over the sample papers for ER@10, through."""
    app = drawn(run_dialog, "start", "sample_data", "er@10", kept=kept)
    app.multiselect(key="run.retrievers").set_value(["llm"]).run()
    app.multiselect(key="run.tasks.er@10").set_value(["er@10"]).run()
    assert "6 instances, about 6 calls" in app.words
    assert "tokens, price unknown (from 6 guesses)" in app.words
    return app.ask("Start")


def test_a_run_that_reached_its_cap_goes_on(open_page: OpenPage, sample_store: Store) -> None:
    with scripted(reply("DECISION: [0]")) as server:
        started(with_server(server.url, calls=4))
        assert "cap of 4 calls is reached" in job_of("run", "stopped")
        open_page("runs", dataset="sample_data", task="er@10").press("Resume a run")
        assert len(server.requests) == 4  # the dialog first tells what it will take
        app = drawn(run_dialog, "resume", "sample_data", "er@10", kept=with_server(server.url))
        assert "2 instances, about 2 calls" in app.words
        app.ask("Start")
        job_of("run", "done")
        assert len(server.requests) == 6
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.tasks["er@10"], run.n_failed) == (6, 0)


def choose_server() -> None:
    """A script: the dialog of the model server."""
    from components.caps import model_dialog

    model_dialog()


def test_a_typed_key_goes_to_its_server_and_nowhere_else(
    open_page: OpenPage, sample_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """From the password field through a connection that is tried, a question and a run that both fail."""
    caplog.set_level(logging.DEBUG)
    with scripted(status(401, f"Incorrect API key provided: {SECRET}")) as server:
        dialog = drawn(choose_server)
        dialog.fill("Model", "tiny").fill("Address", server.url).fill("Key", SECRET)
        seen = [dialog.words, dialog.press("Try the connection").words]
        key = f"llm.key.{server.url}"
        assert dialog.session_state[f"kept.{key}"] == SECRET
        app = browse(open_page, server.url, **{key: SECRET}).ask()
        run = started(with_server(server.url) | {key: SECRET})
        seen += [app.words + str(app.address), run.words + job_of("run", "failed")]
        assert all("answers 401" in words for words in seen[1:])
        sent = [request for request in server.requests if "authorization" in request.headers]
        assert len(sent) >= 3
        assert {request.headers["authorization"] for request in sent} == {f"Bearer {SECRET}"}
        assert not [request for request in sent if SECRET in json.dumps(request.json) + request.path]
    assert all(field.value != SECRET for page in (dialog, app, run) for field in page.text_input)
    assert SECRET not in "".join(seen) + caplog.text + str(jobs().jobs())
    for path in sample_store.path.parent.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
