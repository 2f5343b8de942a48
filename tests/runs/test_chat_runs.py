"""Runs of plain questions: through the same plan, engines, limits and stored answers as those of retrievers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError, LLMAnswerError, UnknownNameError
from evidencebench_core.llm import (
    LLM,
    AnswerCache,
    Ask,
    Budget,
    ChatRequest,
    Connection,
    Conversation,
    Limits,
    Message,
)
from evidencebench_core.runs import (
    ChatPlan,
    ChatRuns,
    ChatRunSpec,
    Progress,
    asked,
    chat_plan,
    estimate,
    execute,
)
from evidencebench_core.runs.chat_runs import delete_runs_about
from evidencebench_core.runs.engines.batch import BatchEngine
from tests.llm.server import Step, answering, reply, scripted, status
from tests.runs.engines.batch_server import answered, batch_server

SPEC = ChatRunSpec("reliability", "a" * 64, {"task": "baseline", "model": "m", "labels": ("yes", "no")})
IDS = [f"q{number}" for number in range(6)]


def request(one: str) -> ChatRequest:
    return ChatRequest("m", (Message("user", f"Question {one}"),), max_tokens=10)


def question(sent: dict[str, Any]) -> str:
    return str(sent["messages"][-1]["content"]).removeprefix("Question ")


def planned(store: Store, url: str, ids: list[str] = IDS, **more: Any) -> ChatPlan:
    limits = Limits(more.pop("concurrency", 4), first_wait=0.001, give_up=5.0)
    llm = LLM(Connection(url, "secret"), AnswerCache(store), more.pop("budget", None), limits)
    conversation = more.pop("conversation", lambda one: asked(request(one), "the question"))
    return chat_plan(store, more.pop("spec", SPEC), ids, conversation, llm, **more)


def run(store: Store, url: str, ids: list[str] = IDS, **more: Any) -> Progress:
    engine = more.pop("engine", None)
    *_, last = execute(planned(store, url, ids, **more), engine)
    return last


def texts(store: Store, run_id: str = SPEC.id) -> dict[str, str]:
    results = ChatRuns(store).results(run_id)
    return {one: result if isinstance(result, str) else result["text"] for one, result in results.items()}


def test_results_are_kept_by_id_and_asked_once(store: Store) -> None:
    assert len(SPEC.id) == 12
    assert SPEC.id == ChatRunSpec(SPEC.wing, SPEC.subject, {**SPEC.settings, "labels": ["yes", "no"]}).id
    with scripted(answering(lambda sent: reply(f"Yes \ud800, {question(sent)}"))) as server:
        cost = estimate(planned(store, server.url))
        assert (cost.model, cost.calls, cost.n_instances, server.requests) == ("m", 6, 6, [])
        first = run(store, server.url, IDS[:4])
        assert (first.run_id, first.done, first.total, first.failed) == (SPEC.id, 4, 4, 0)
        last = run(store, server.url)
        assert (last.done, last.total, len(server.requests)) == (6, 6, 6)
        assert estimate(planned(store, server.url)).calls == 0
        run(store, server.url, IDS[:2], fresh=True)
        assert len(server.requests) == 8
        other = {"q5": "q6"}
        run(
            store,
            server.url,
            changed=["q4", "q5"],
            conversation=lambda one: asked(request(other.get(one, one))),
        )
        assert len(server.requests) == 9  # what is not asked for in other words is in the store
        assert texts(store)["q5"] == "Yes \ud800, q6"
        run(store, server.url, again=["q5"])
        assert len(server.requests) == 10
    assert texts(store) == {one: f"Yes \ud800, {one}" for one in IDS}
    result = ChatRuns(store).results(SPEC.id)["q0"]
    assert isinstance(result, dict)
    assert set(result) == {
        "text", "finish_reason", "refusal", "reasoning", "prompt_tokens", "completion_tokens", "seconds", "model",
        "key",
    }  # fmt: skip
    assert AnswerCache(store).request(result["key"]) == request("q0").body()
    (info,) = ChatRuns(store).runs("reliability", SPEC.subject)
    assert (info.id, info.n_answered, info.n_failed) == (SPEC.id, 6, 0)
    assert dict(info.settings) == {"task": "baseline", "model": "m", "labels": ["yes", "no"]}
    assert ChatRuns(store).runs("answers") == ChatRuns(store).runs(subject="b") == ()
    assert ChatRuns(store).run(SPEC.id[:5].upper()) == info


def test_a_failure_is_tried_again_and_an_odd_answer_is_an_answer(store: Store) -> None:
    steps: dict[str, Step] = {
        "q1": status(400, "too long"),
        "q2": reply(None, message={"role": "assistant", "content": None, "refusal": "No."}),
        "q3": reply("Y", finish_reason="length"),
        "q4": reply(""),
    }
    with scripted(answering(lambda sent: steps.pop(question(sent), reply("yes")))) as server:
        last = run(store, server.url)
        assert (last.done, last.failed, ChatRuns(store).run(SPEC.id).n_failed) == (5, 1, 1)
        assert "too long" in texts(store)["q1"]
        assert list(planned(store, server.url, [*IDS, "q6"]).missing) == [
            "q6",
            "q1",
        ]  # what failed comes last
        assert run(store, server.url).failed == 0
        assert len(server.requests) == 7
    results: dict[str, Any] = ChatRuns(store).results(SPEC.id)
    assert results["q1"]["text"] == "yes"
    assert (results["q2"]["refusal"], results["q3"]["finish_reason"], results["q4"]["text"]) == (
        "No.",
        "length",
        "",
    )
    assert (ChatRuns(store).run(SPEC.id).n_answered, ChatRuns(store).run(SPEC.id).n_failed) == (6, 0)


def test_a_conversation_of_several_calls(store: Store) -> None:
    def conversation(one: str) -> Conversation[dict[str, Any]]:
        first, second = yield [Ask("first", request(one)), Ask("second", request(f"{one} too"))]
        (third,) = yield [Ask("third", request(f"{first.text}{second.text}"))]
        if one == "q1":
            raise LLMAnswerError("m", "has no list", "Try again.")
        return {"together": third.text, "keys": [first.key, second.key]}

    with scripted(answering(lambda sent: reply(f"<{question(sent)}>"))) as server:
        last = run(store, server.url, IDS[:2], conversation=conversation)
        assert (last.done, last.failed, len(server.requests)) == (1, 1, 6)
    results: dict[str, Any] = ChatRuns(store).results(SPEC.id)
    assert results["q0"]["together"] == "<<q0><q0 too>>"
    assert "has no list" in results["q1"]


def test_caps_are_exact_and_a_stopped_run_goes_on(store: Store) -> None:
    with scripted(reply("yes")) as server:
        with pytest.raises(BudgetReachedError):
            run(store, server.url, budget=Budget(calls=4))
        assert (len(server.requests), len(texts(store))) == (4, 4)
        assert run(store, server.url, budget=Budget(calls=2)).done == len(server.requests) == 6


def test_a_run_is_deleted_with_those_about_it(store: Store) -> None:
    judge = ChatRunSpec("reliability", SPEC.id, {"task": "judge", "model": "j"})
    runs = ChatRuns(store)
    for spec in (SPEC, judge):
        runs.create(spec)
        runs.add(spec.id, {"q0": {"text": "yes"}, "q1": "no answer"})
    assert runs.dependents(runs.run(SPEC.id)) == {"answer": 2, "judge run": 1}
    runs.delete(runs.run(SPEC.id))
    with store.read() as db:
        counts = [
            db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("chat_runs", "chat_results")
        ]
    assert (counts, runs.runs()) == ([0, 0], ())
    with pytest.raises(UnknownNameError, match="has been deleted"):
        runs.add(SPEC.id, {"q0": {"text": "yes"}})
    for spec in (SPEC, judge):
        runs.create(spec)
    with store.write() as db:
        delete_runs_about(db, SPEC.subject)
    assert runs.runs() == ()


def test_batches_answer_as_calls_do(store: Store, tmp_path: Path) -> None:
    def say(sent: dict[str, Any]) -> str:
        return "" if question(sent) == "q1" else f"Yes, {question(sent)}"

    with batch_server(say) as server:
        last = run(store, server.url, engine=BatchEngine(poll=0.001))
        assert (last.done, len(server.batches), len(server.asked())) == (6, 1, 6)
        assert run(store, server.url, [*IDS, "q6"], engine=BatchEngine(poll=0.001)).done == 7
        assert len(server.asked()) == 7
    expected = {one: "" if one == "q1" else f"Yes, {one}" for one in [*IDS, "q6"]}
    assert texts(store) == expected
    other = ChatRunSpec("answers", "b" * 64, SPEC.settings)
    writing, url = BatchEngine(out=tmp_path / "out"), "http://127.0.0.1:9/v1"
    assert run(store, url, spec=other, engine=writing).done == 0
    (path,) = writing.written
    result = tmp_path / "results.jsonl"
    result.write_bytes(b"\n".join(answered(path.read_bytes(), say)[0]))
    assert run(store, url, spec=other, engine=BatchEngine(into=(result,))).done == 6
    assert texts(store, other.id) == {one: expected[one] for one in IDS}


def test_batches_under_way_go_with_their_run(store: Store) -> None:
    runs = ChatRuns(store)
    runs.create(SPEC)
    with store.write() as db:
        db.execute(
            "INSERT INTO llm_batches (name, run_id, address, begun_at) VALUES ('a', ?, 'x', '')", (SPEC.id,)
        )
    runs.delete(runs.run(SPEC.id))
    with store.read() as db:
        assert db.execute("SELECT count(*) FROM llm_batches").fetchone() == (0,)


WORKER = """
import sys
from pathlib import Path
from evidencebench_core.data.store import open_store
from evidencebench_core.runs import execute
from tests.runs.test_chat_runs import planned
path, url = sys.argv[1:]
for report in execute(planned(open_store(Path(path)), url, [f"q{number}" for number in range(60)])):
    print(report.done, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_killed_run_goes_on_and_pays_nothing_twice(store: Store) -> None:
    store.datasets()  # there before it is opened twice
    lock, held, killed = threading.Lock(), threading.Semaphore(0), threading.Event()
    n_asked, paid = 0, Counter[str]()

    def say(sent: dict[str, Any]) -> Step:
        nonlocal n_asked
        with lock:
            n_asked += 1
            hold = not killed.is_set() and n_asked > 25
        if hold:
            held.release()
            return lambda handler: handler.wait_for_client() and None  # never answered, so never paid

        def step(handler: Any) -> None:
            reply(f"yes {question(sent)}")(handler)
            with lock:
                paid[question(sent)] += 1

        return step

    with scripted(answering(say)) as server:
        command = [sys.executable, "-c", WORKER, str(store.path), server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
            for _ in range(4):  # all four calls wait for an answer: what came before is stored
                assert held.acquire(timeout=60)
            victim.kill()
        killed.set()
        assert 20 <= ChatRuns(store).run(SPEC.id).n_answered < 60
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        assert done.stdout.endswith("60\n")
    assert paid == {f"q{number}": 1 for number in range(60)}
    assert texts(store) == {f"q{number}": f"yes q{number}" for number in range(60)}
    assert ChatRuns(store).run(SPEC.id).n_answered == 60
