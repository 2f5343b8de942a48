"""Runs in batches: the same as call by call, killed at every step, refused line by line."""

import json
from collections import Counter
from typing import Any

import httpx2
import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError, LLMError, LLMRejectedError
from evidencebench_core.llm import Budget, price_of
from evidencebench_core.llm.answers import AnswerStore
from evidencebench_core.runs import Progress, RunStore, estimate, execute
from evidencebench_core.runs.engines.batch import BatchEngine, batches_under_way
from tests.llm.server import answering, reply, scripted
from tests.runs.conftest import COT, KEY, asking, cohort, finished
from tests.runs.engines.batch_server import BatchServer, batch_server

SECTIONS = {"model": "m", "strategy": "section"}


def pick(request: dict[str, Any]) -> str:
    """Another sentence for every question; in its reasons a separator of lines that JSON need not escape."""
    return f"Because\u2028so.\nDECISION: [{cohort(request)}]"


def run(store: Store, server: BatchServer, *tasks: str, **options: Any) -> Progress:
    return finished(execute(asking(store, server.url, *tasks, **options), BatchEngine(poll=0.001)))


def selections(store: Store, run_id: str, task: str = "er@10") -> dict[str, tuple[int, ...]]:
    return RunStore(store).selections(run_id, task)


class KilledError(Exception):
    """In the place of SIGKILL: nothing but the store survives it."""


@pytest.mark.parametrize(("settings", "n_rounds"), [(COT, 1), (SECTIONS, 2)], ids=["at once", "by sections"])
def test_a_run_in_batches_selects_what_a_run_call_by_call_does(
    store: Store, settings: dict[str, Any], n_rounds: int
) -> None:
    tasks = ("er@optimal", "er@10")
    with batch_server(pick) as server:
        last = run(store, server, *tasks, settings=settings)
        asked = server.asked()
        assert len(server.batches) == server.requests.count("POST /files") == n_rounds
        run_id = last.run_id
        assert (last.done, last.failed, batches_under_way(store, run_id)) == (6, 0, {})
        batched = {task: selections(store, run_id, task) for task in tasks}
        with store.write() as db:
            db.execute("DELETE FROM results")
        # call by call, on a server that knows no such calls: all answers are in the store
        assert finished(execute(asking(store, server.url, *tasks, settings=settings))).done == 6
    assert len({json.dumps(request) for request in asked}) == len(asked)
    with store.write() as db:
        db.execute("DELETE FROM results")
        db.execute("DELETE FROM llm_answers")
    with scripted(answering(lambda request: reply(pick(request)))) as online:
        assert finished(execute(asking(store, online.url, *tasks, settings=settings))).run_id == run_id
        assert len(online.requests) == len(asked)
    assert {task: selections(store, run_id, task) for task in tasks} == batched


@pytest.mark.parametrize(
    "step", ["POST /files", "POST /batches", "GET /batches/batch_2", "GET /files/file-3/content"]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_anywhere_nothing_is_paid_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    """The client dies at the call, before the server hears of it or after it has done its work."""
    send = httpx2.AsyncClient.send

    async def dying(self: httpx2.AsyncClient, request: httpx2.Request, **how: Any) -> httpx2.Response:
        is_fatal = f"{request.method} {request.url.path.removeprefix('/v1')}" == step
        if is_fatal and when == "before":
            raise KilledError
        response = await send(self, request, **how)
        if is_fatal:
            raise KilledError
        return response

    with batch_server(pick) as server:
        with monkeypatch.context() as patch:
            patch.setattr(httpx2.AsyncClient, "send", dying)
            with pytest.raises(KilledError):
                run(store, server)
        last = run(store, server)
        assert (last.done, len(server.batches), len(server.asked())) == (6, 1, 6)
    assert batches_under_way(store, last.run_id) == {}


@pytest.mark.parametrize("fresh", [False, True])
def test_stopped_while_a_batch_is_under_way_another_start_goes_on(store: Store, fresh: bool) -> None:
    with batch_server(pick) as server:
        server.hold = True
        engine, notes = BatchEngine(poll=0.001), list[str]()
        reports = execute(asking(store, server.url, fresh=fresh), engine, lambda: bool(notes))
        notes.extend(report.note for report in reports if "under way" in report.note)
        assert batches_under_way(store, asking(store, server.url).run_id) == {server.url: 1}
        server.hold = False
        budget = Budget(calls=0)  # what comes is paid already
        assert run(store, server, budget=budget, fresh=fresh).done == 6
        assert (len(server.asked()), budget.spent.calls, budget.spent.cached) == (6, 6, 6)


def test_a_batch_is_remembered_until_its_answers_are_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any) -> None:
        raise LLMError("store", "cannot be written: the disk is full", "Free some space.", stops_run=True)

    with batch_server(pick) as server:
        with monkeypatch.context() as patch:
            patch.setattr(AnswerStore, "keep", full)
            with pytest.raises(LLMError, match="disk is full"):
                run(store, server)
        with monkeypatch.context() as patch:  # killed between an answer and the row of its batch
            patch.setattr(BatchEngine, "_forget", lambda *_: None)
            assert run(store, server).done == len(server.asked()) == 6
        last = run(store, server, "er@optimal")
        assert (last.done, len(server.asked())) == (6, 12)
        assert batches_under_way(store, last.run_id) == {}


def test_more_calls_than_there_may_be_at_once_take_more_batches(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidencebench_core.runs.engines.batch._AT_ONCE", 4)  # of 6 papers in 3 sections
    with batch_server(pick) as server:
        assert run(store, server, settings=SECTIONS).done == 6
        assert {len(server.lines(batch)) for batch in server.batches.values()} <= {1, 2, 3, 4}


def test_lines_that_fail_are_asked_again_by_the_next_start(store: Store) -> None:
    times = Counter[str]()

    def say(request: dict[str, Any]) -> Any:
        number = cohort(request)
        times[number] += 1
        failures = {
            "0": None,
            "1": (500, {"error": {"message": f"{KEY} is broken"}}),
            "2": (200, {"choices": []}),
            "3": (400, {"error": {"message": "Unsupported parameter", "param": "temperature"}}),
            "4": (400, {"error": {"message": "maximum context length is 10 tokens"}}),
        }
        return pick(request) if times[number] > 1 else failures.get(number, pick(request))

    with batch_server(say) as server:
        last = run(store, server)
        assert (last.done, last.failed, times) == (2, 4, {"0": 1, "1": 1, "2": 1, "3": 2, "4": 1, "5": 1})
        reasons = RunStore(store).failures(last.run_id, "er@10")
        assert "[key] is broken" in reasons["tiny_1"]
        assert "context length" in reasons["tiny_4"]
        assert (run(store, server).done, len(server.asked())) == (6, 7 + 4)
    assert batches_under_way(store, last.run_id) == {}


@pytest.mark.parametrize(
    "before",
    [{"POST /files": (404, "no such path")}, {"POST /batches": (401, "no sk-a-very-secret-key")}, {}],
)
def test_a_refusal_ends_the_run(store: Store, before: dict[str, tuple[int, str]]) -> None:
    with batch_server(lambda _: (404, {"error": {"message": "no such model"}})) as server:
        server.before = before.get
        with pytest.raises(LLMRejectedError) as caught:
            run(store, server)
        assert len(server.batches) == (not before)
    assert "secret" not in str(caught.value)
    assert batches_under_way(store, asking(store, server.url).run_id) == {}


def test_a_batch_that_is_not_carried_out_says_why(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {"object": "list", "data": [{"code": "billing", "message": "no money left"}]}
    with batch_server(pick) as server:
        failed = {"status": "failed", "errors": errors}
        monkeypatch.setattr(server, "look", lambda batch_id: server.batches[batch_id] | failed)
        with pytest.raises(LLMError, match="no money left"):
            run(store, server)


def test_caps_hold_and_prices_are_those_of_batches(store: Store) -> None:
    price, budget = price_of("gpt-4o", 100, 10), Budget(calls=4)
    settings = {"model": "gpt-4o", "strategy": "cot"}
    assert price is not None
    with batch_server(pick) as server:
        with pytest.raises(BudgetReachedError):
            run(store, server, settings=settings, budget=budget)
        assert len(server.asked()) == 4
        assert (budget.spent.calls, budget.spent.money) == (4, pytest.approx(4 * price / 2))
        with pytest.raises(BudgetReachedError):  # the cap is of the run, over all its starts
            run(store, server, settings=settings, budget=Budget(calls=4))
        last = run(store, server, settings=settings)
        assert (last.done, len(server.asked())) == (6, 6)
        assert estimate(asking(store, server.url, settings=settings), batch=True).calls == 0
