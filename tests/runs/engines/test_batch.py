"""Runs in batches: over the endpoint and over files, killed at every step, refused line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError, LLMError, LLMRejectedError, SettingError
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection, Limits
from evidencebench_core.llm.prices import Price
from evidencebench_core.runs import Plan, Progress, RunStore, execute, plan
from evidencebench_core.runs.engines import batch_endpoint, batch_files
from evidencebench_core.runs.engines.batch import BatchEngine
from tests.llm.server import answering, reply, scripted
from tests.runs.engines.batch_server import BatchServer, answered, batch_server

COT = {"model": "m", "strategy": "cot"}
SECTIONS = {"model": "m", "strategy": "section"}


def text(request: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in request["messages"])


def cohort(request: dict[str, Any]) -> int:
    match = re.search(r"blood pressure in cohort (\d+)\.", text(request))
    assert match
    return int(match[1])


def pick(request: dict[str, Any]) -> str:
    """Another sentence for every question; in its reasons a separator of lines that JSON need not escape."""
    return f"Because\u2028so.\nDECISION: [{cohort(request)}]"


def planned(store: Store, url: str, settings: dict[str, Any] | None = None, **more: Any) -> Plan:
    budget = more.pop("budget", None)
    limits = Limits(give_up=5.0, first_wait=0.001)
    llm = LLM(Connection(url, "sk-a-very-secret-key"), AnswerCache(store), budget, limits)
    return plan(store, "tiny", "llm", settings or COT, more.pop("tasks", ["er@10"]), llm=llm, **more)


def finished(reports: Iterator[Progress]) -> Progress:
    *_, last = reports
    return last


def run(store: Store, server: BatchServer, settings: dict[str, Any] | None = None, **more: Any) -> Progress:
    return finished(execute(planned(store, server.url, settings, **more), BatchEngine(poll=0.001)))


def selections(store: Store, run_id: str, task: str = "er@10") -> dict[str, tuple[int, ...]]:
    return RunStore(store).selections(run_id, task)


def n_rows(store: Store) -> int:
    with store.read() as db:
        return int(db.execute("SELECT count(*) FROM llm_batches").fetchone()[0])


class Killed(BaseException):
    """In the place of SIGKILL: nothing but the store survives it."""


@pytest.mark.parametrize(("settings", "n_rounds"), [(COT, 1), (SECTIONS, 2)], ids=["at once", "by sections"])
def test_a_run_in_batches_selects_what_a_run_call_by_call_does(
    store: Store, settings: dict[str, Any], n_rounds: int
) -> None:
    tasks = ["er@optimal", "er@10"]
    with batch_server(pick) as server:
        last = run(store, server, settings, tasks=tasks)
        asked = server.asked()
        assert len(server.batches) == server.requests.count("POST /files") == n_rounds
    assert (last.done, last.failed, n_rows(store)) == (6, 0, 0)
    assert len({json.dumps(one) for one in asked}) == len(asked)
    batched = {task: selections(store, last.run_id, task) for task in tasks}
    with store.write() as db:
        db.execute("DELETE FROM retrievals")
        db.execute("DELETE FROM llm_answers")
    with scripted(answering(lambda request: reply(pick(request)))) as online:
        assert finished(execute(planned(store, online.url, settings, tasks=tasks))).run_id == last.run_id
        assert len(online.requests) == len(asked)
    assert {task: selections(store, last.run_id, task) for task in tasks} == batched


def test_answers_have_the_keys_of_calls_made_one_by_one(store: Store) -> None:
    with batch_server(pick) as server:
        last = run(store, server)
        n_asked = len(server.asked())
        with store.write() as db:
            db.execute("DELETE FROM retrievals")
        again = finished(execute(planned(store, server.url)))  # call by call: this server knows no such calls
        assert (again.run_id, again.done, again.failed) == (last.run_id, 6, 0)
        assert run(store, server).done == 6
        assert len(server.asked()) == n_asked == 6


def test_small_files_are_many_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "MOST_LINES", 4)
    with batch_server(pick) as server:
        assert run(store, server).done == 6
        assert sorted(batch["request_counts"]["total"] for batch in server.batches.values()) == [2, 4]
    monkeypatch.setattr(batch_files, "MOST_BYTES", 1)
    with batch_server(pick) as server:
        assert run(store, server, fresh=True).done == 6
        assert len(server.batches) == 6


@pytest.mark.parametrize(
    "step", ["POST /files", "POST /batches", "GET /batches/batch_2", "GET /files/file-3/content"]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_anywhere_nothing_is_sent_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    def kill(what: str) -> Any:
        if what == step and killing:
            raise Killed
        return None

    killing = True
    with batch_server(pick) as server:
        # The client dies at the call, before the server hears of it or after it has done its work.
        original = batch_endpoint.client_of

        def client(llm: LLM) -> Any:
            made = original(llm)
            send = made._client.send

            def dying(request: Any, **how: Any) -> Any:
                what = f"{request.method} {request.url.path.removeprefix('/v1')}"
                if when == "before":
                    kill(what)
                response = send(request, **how)
                kill(what)
                return response

            made._client.send = dying
            return made

        monkeypatch.setattr(batch_endpoint, "client_of", client)
        with pytest.raises(Killed):
            run(store, server)
        killing = False
        assert run(store, server).done == 6
        assert len(server.batches) == 1
        assert len(server.asked()) == 6
        assert server.requests.count("POST /files") == 1
    assert n_rows(store) == 0


def test_a_server_that_hangs_up_after_it_did_its_work_is_not_asked_again(store: Store) -> None:
    hung_up: set[str] = set()

    def once(what: str) -> bool:
        return what.startswith("POST") and not (what in hung_up or hung_up.add(what))

    with batch_server(pick) as server:
        server.after = once
        assert run(store, server).done == 6
        assert (len(server.batches), len(server.asked())) == (1, 6)
    assert hung_up == {"POST /files", "POST /batches"}


def test_a_server_that_fails_for_a_while_is_asked_until_it_answers(store: Store) -> None:
    left = dict.fromkeys(
        ["POST /files", "POST /batches", "GET /batches/batch_2", "GET /files/file-3/content"], 2
    )

    def failing(what: str) -> tuple[int, str] | None:
        left[what] = left.get(what, 0) - 1
        return (503, "busy") if left[what] >= 0 else None

    with batch_server(pick) as server:
        server.before = failing
        assert run(store, server).done == 6
        assert (len(server.batches), len(server.asked())) == (1, 6)


def test_stopped_while_a_batch_is_under_way_another_start_goes_on(store: Store) -> None:
    with batch_server(pick) as server:
        server.hold = True
        engine, notes = BatchEngine(poll=0.001), []
        reports = execute(planned(store, server.url), engine, lambda: bool(notes))
        notes.extend(one.note for one in reports if one.note.startswith("1 batch under way"))
        assert notes == [f"1 batch under way at {server.url}: 0 of 0 requests done"]
        assert n_rows(store) == 1
        server.hold = False
        assert run(store, server).done == 6
        assert len(server.asked()) == 6


def test_two_processes_do_not_ask_in_batches_for_one_run(store: Store) -> None:
    with batch_server(pick) as server:
        server.hold = True
        first = execute(planned(store, server.url), BatchEngine(poll=0.001))
        while not next(first).note:
            pass
        with pytest.raises(LLMRejectedError, match="is being asked in batches by another process"):
            run(store, server)
        first.close()  # type: ignore[attr-defined]


def test_lines_that_fail_are_asked_again_in_the_next_round(store: Store) -> None:
    times: dict[int, int] = {}

    def say(request: dict[str, Any]) -> Any:
        number = cohort(request)
        times[number] = times.get(number, 0) + 1
        if times[number] > 1 and number != 4:
            return pick(request)
        return {
            0: None,
            1: (None, {"error": {"message": "overloaded"}}),
            2: (200, {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
            3: (429, {"error": {"message": "slow down"}}),
            4: (500, {"error": {"message": "sk-a-very-secret-key is broken"}}),
        }.get(number, pick(request))

    with batch_server(say) as server:
        last = run(store, server)
    assert (last.done, last.failed) == (5, 1)
    assert times == {0: 2, 1: 2, 2: 2, 3: 2, 4: 3, 5: 1}
    (reason,) = RunStore(store).failures(last.run_id, "er@10").values()
    assert reason.startswith(f"batch at {server.url}: no answer in 3 batches: answers 500 ([key] is broken).")


def test_verdicts_on_lines_are_those_on_calls(store: Store) -> None:
    too_long = {
        "error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}
    }
    filtered = {"error": {"message": "content management policy", "code": "content_filter"}}

    def say(request: dict[str, Any]) -> Any:
        return {0: (400, too_long), 1: (400, filtered)}.get(cohort(request), pick(request))

    with batch_server(say) as server:
        last = run(store, server)
        assert len(server.asked()) == 6
    assert (last.done, last.failed) == (5, 1)
    assert "maximum context length" in RunStore(store).failures(last.run_id, "er@10")["tiny_0"]
    filtered_one = RunStore(store).retrieval(last.run_id, "er@10", "tiny_1")
    assert filtered_one is not None
    assert (filtered_one.selection, filtered_one.details["outcome"]) == ((), "refusal")


def test_a_field_that_the_server_does_not_take_is_left_out_of_the_next_round(store: Store) -> None:
    def say(request: dict[str, Any]) -> Any:
        if "seed" in request:
            return 400, {"error": {"message": "Unsupported parameter: 'seed'", "param": "seed"}}
        return pick(request)

    with batch_server(say) as server:
        last = run(store, server)
        assert (last.done, len(server.asked())) == (6, 12)


def test_what_every_line_would_meet_ends_the_run_once_and_not_for_ever(store: Store) -> None:
    wrong = True

    def say(request: dict[str, Any]) -> Any:
        return (404, {"error": {"message": "The model `m` does not exist"}}) if wrong else pick(request)

    with batch_server(say) as server:
        with pytest.raises(LLMRejectedError, match="does not exist"):
            run(store, server)
        wrong = False
        assert run(store, server).done == 6


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ({"POST /files": (404, "no such path")}, "it may have no batch endpoint"),
        ({"POST /batches": (401, "wrong key sk-a-very-secret-key")}, r"wrong key \[key\]"),
    ],
)
def test_a_refusal_is_one_line(store: Store, before: dict[str, tuple[int, str]], words: str) -> None:
    with batch_server(pick) as server:
        server.before = before.get
        with pytest.raises(LLMRejectedError, match=words):
            run(store, server)


def test_a_batch_that_is_not_carried_out_says_why(store: Store) -> None:
    errors = {"object": "list", "data": [{"code": "billing", "message": "no money left"}]}
    with batch_server(pick) as server:
        server.look = lambda batch_id: (
            server.batches[batch_id]
            | {  # type: ignore[method-assign]
                "status": "failed",
                "errors": errors,
            }
        )
        with pytest.raises(LLMRejectedError, match=r"was not carried out .billing: no money left"):
            run(store, server)
    assert n_rows(store) == 0


def test_a_server_that_is_not_there(store: Store) -> None:
    with batch_server(pick) as server:
        url = server.url
    llm = LLM(Connection(url, "key"), AnswerCache(store), None, Limits(give_up=0.01, first_wait=0.001))
    with pytest.raises(LLMError, match="the server fails"):
        finished(execute(plan(store, "tiny", "llm", COT, ["er@10"], llm=llm), BatchEngine(poll=0.001)))
    with pytest.raises(LLMRejectedError, match="not of the form http"):
        finished(execute(planned(store, "nonsense"), BatchEngine()))


def test_no_secret_of_the_address_is_logged(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with batch_server(pick) as server:
        url = server.url.replace("http://", "http://user:p4ssw0rd@") + "?token=querySECRET"
        assert finished(execute(planned(store, url), BatchEngine(poll=0.001))).done == 6
    assert "HTTP Request" in caplog.text
    for secret in ("p4ssw0rd", "querySECRET", "sk-a-very-secret-key"):
        assert secret not in caplog.text


def test_caps_hold_for_what_is_written_and_prices_are_those_of_batches(store: Store) -> None:
    budget = Budget(calls=4, table={"m": Price(1.0, 10.0, batch=0.5)})
    with batch_server(pick) as server:
        with pytest.raises(BudgetReachedError, match="cap of 4 calls"):
            run(store, server, budget=budget)
        assert len(server.asked()) == 4
        assert (budget.spent.calls, budget.spent.money) == (4, pytest.approx(4 * (100 + 100) / 2e6))
        last = run(store, server)
        assert (last.done, len(server.asked())) == (6, 6)


def test_fresh_asks_once_more_and_lost_ones_alone(store: Store) -> None:
    sentence = "1"
    with batch_server(
        lambda request: f"DECISION: [{sentence}]" if cohort(request) else "I will not."
    ) as server:
        last = run(store, server)
        sentence = "2"
        run(store, server, fresh=True)
        assert len(server.asked()) == 12
        assert selections(store, last.run_id)["tiny_1"] == (2,)
        run(store, server, retry_lost=True)
        assert [cohort(one) for one in server.asked()[12:]] == [0]


def test_files_out_and_in(store: Store, tmp_path: Path) -> None:
    url, out = "http://127.0.0.1:1/v1", tmp_path / "out"
    results: list[Path] = []
    written: list[Path] = []
    for number in range(3):
        engine, before = BatchEngine(out, tuple(results)), set(written)
        last = finished(execute(planned(store, url, SECTIONS), engine))
        written = sorted(out.glob("*.jsonl"))
        if last.done == 6:
            break
        assert set(engine.written) == set(written) - before
        assert len(written) == number + 1
        finished(execute(planned(store, url, SECTIONS), engine))  # said twice, the files are the same
        assert sorted(out.glob("*.jsonl")) == written
        results = []
        for path in written:
            done, _ = answered(path.read_bytes(), pick)
            results.append(tmp_path / f"{path.name}.results")
            results[-1].write_bytes(b"\n".join(reversed(done)))
    assert number == 2
    line = json.loads(written[0].read_bytes().splitlines()[0])
    assert (line["method"], line["url"], line["body"]["model"]) == ("POST", "/v1/chat/completions", "m")


def test_files_of_another_run_and_other_files_are_told(store: Store, tmp_path: Path) -> None:
    url = "http://127.0.0.1:1/v1"
    finished(execute(planned(store, url, {"model": "other"}), BatchEngine(tmp_path / "out")))
    (requests,) = (tmp_path / "out").glob("*.jsonl")
    foreign, junk = tmp_path / "foreign.jsonl", tmp_path / "junk.jsonl"
    foreign.write_bytes(b"\n".join(answered(requests.read_bytes(), pick)[0]))
    junk.write_bytes(b'{"custom_id": 1}\n')

    def reading(path: Path) -> Progress:
        return finished(execute(planned(store, url), BatchEngine(into=(path,))))

    with pytest.raises(SettingError, match=r"foreign\.jsonl: belongs to another run: none of its 6 results"):
        reading(foreign)
    with pytest.raises(SettingError, match=r"jsonl, line 1: is a request, not a result"):
        reading(requests)
    with pytest.raises(SettingError, match=r"junk\.jsonl, line 1: is no line of a batch's results"):
        reading(junk)
    with pytest.raises(SettingError, match="cannot be read"):
        reading(tmp_path / "missing.jsonl")


def test_only_chat_models_are_asked_in_batches(store: Store) -> None:
    with pytest.raises(SettingError, match=r"retriever bm25: asks no chat model.*Leave out --engine batch"):
        execute(plan(store, "tiny", "bm25"), BatchEngine())
    assert RunStore(store).runs() == ()


def test_an_old_answer_does_not_stand_in_for_a_fresh_one_that_failed_at_first(store: Store) -> None:
    sentence, expired = "1", False

    def say(request: dict[str, Any]) -> Any:
        nonlocal expired
        if sentence == "2" and cohort(request) == 4 and not expired:
            expired = True
            return None
        return f"DECISION: [{sentence}]"

    with batch_server(say) as server:
        last = run(store, server)
        sentence = "2"
        run(store, server, fresh=True)
        assert set(selections(store, last.run_id).values()) == {(2,)}
        assert len(server.asked()) == 13
