"""Runs that ask a server: many at once, stopped, killed and resumed, counted, estimated, capped."""

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.llm import Budget
from evidencebench_core.runs import Progress, RunStore, estimate, execute, plan
from tests.factories import raw_dataset, store_with
from tests.llm.server import Scripted, Step, answering, reply, scripted, status
from tests.runs.conftest import asking, cohort, finished


def executing(server: Scripted, store: Store, *tasks: str, **options: Any) -> Iterator[Progress]:
    cancelled = options.pop("cancelled", None)
    return execute(asking(store, server.url, *tasks, **options), cancelled=cancelled)


def test_outcomes_are_counted(store: Store) -> None:
    by_cohort = {
        "0": reply("DECISION: [1, 2]"),
        "1": reply("DECISION: []"),
        "2": reply("Hard to say."),
        "3": reply(None, message={"role": "assistant", "content": None, "refusal": "No."}),
        "4": reply("First, the", finish_reason="length"),
        "5": status(400, "this prompt breaks me"),
    }
    with scripted(answering(lambda request: by_cohort[cohort(request) or "0"])) as server:
        last = finished(executing(server, store, "er@1"))
        n_asked = len(server.requests)
    assert n_asked == 7  # cohort 0 was asked again for fewer
    counts = RunStore(store).outcomes(last.run_id)["er@1"]
    present = ("selection", "empty", "no_list", "refusal", "cut_off", "failed", "over", "regenerated")
    assert {word: n for word, n in counts.items() if n} == dict.fromkeys(present, 1)
    assert (last.done, last.failed) == (5, 1)
    assert RunStore(store).outcomes(finished(execute(plan(store, "tiny", "lead"))).run_id) == {}


def test_a_cancel_lets_calls_under_way_end_and_keeps_them(store: Store) -> None:
    cancelled, asked = threading.Event(), threading.Barrier(2, timeout=30)

    def say(_: dict[str, Any]) -> Step:
        if not cancelled.is_set():
            asked.wait()  # both workers are asking
            cancelled.set()
        return reply("DECISION: [1]")

    with scripted(answering(say)) as server:
        finished(executing(server, store, cancelled=cancelled.is_set, concurrency=2))
        n_asked = len(server.requests)
    (run,) = RunStore(store).runs()
    assert dict(run.tasks) == {"er@10": n_asked}
    assert n_asked < 6


def test_the_estimate_is_of_what_is_still_to_be_asked(store: Store) -> None:
    with scripted(reply("DECISION: [1]")) as server:
        before = estimate(asking(store, server.url, "er@10", "result-er@5"))
        # cot asks once an instance and task; five of the six instances have results.
        assert (before.calls, before.cached, before.n_instances) == (11, 0, 6)
        assert before.completion_tokens == 11 * 800
        assert before.money is None
        assert len(server.requests) == 0
        finished(executing(server, store))
        after = estimate(asking(store, server.url, "er@10", "result-er@5"))
        assert (after.calls, after.n_instances) == (5, 5)
        # The same questions in another run are in the store: cot is what auto takes for ER.
        auto = estimate(asking(store, server.url, settings={"model": "m"}))
        assert (auto.calls, auto.cached) == (0, 6)
        priced = asking(store, server.url, settings={"model": "gpt-4o-mini", "strategy": "section"})
    cost, halved = estimate(priced), estimate(priced, batch=True)
    # Headings at 0 and 3, abstract 1 and 2: three sections, and the final choice.
    assert cost.calls == 6 * 4
    assert cost.money is not None
    assert cost.money > 0
    assert halved.money == pytest.approx(cost.money / 2)


N_INSTANCES = 30
WORKER = """
import sys
from pathlib import Path
from evidencebench_core.data.store import open_store
from evidencebench_core.llm import LLM
from evidencebench_core.runs import execute, plan
path, strategy, n = sys.argv[1:]
store = open_store(Path(path))
llm = LLM(store=store, concurrency=int(n))
settings = {"model": "m", "strategy": strategy}
for report in execute(plan(store, "tiny", "llm", settings, ["er@10"], llm=llm)):
    print(report.done, flush=True)
"""


@pytest.fixture
def shared(tmp_path: Path) -> Store:
    """A store of thirty instances for processes of their own."""
    return store_with(raw_dataset(N_INSTANCES), tmp_path)


def worker(server: Scripted, store: Store, strategy: str, concurrency: int) -> subprocess.Popen[str]:
    environment = os.environ | {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "secret"}
    command = [sys.executable, "-c", WORKER, str(store.path), strategy, str(concurrency)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_killed_run_goes_on_and_pays_nothing_twice(shared: Store) -> None:
    lock, held, killed = threading.Lock(), threading.Semaphore(0), threading.Event()
    n_asked, paid = 0, Counter[str]()

    def say(request: dict[str, Any]) -> Step:
        nonlocal n_asked
        with lock:
            n_asked += 1
            hold = not killed.is_set() and n_asked > 40  # ten instances of four calls, in some order
        if hold:
            held.release()
            return lambda handler: handler.wait_for_client() and None  # never answered, so never paid
        return lambda handler: answered(handler, request)

    def answered(handler: Any, request: dict[str, Any]) -> None:
        reply("DECISION: [1]")(handler)
        with lock:
            paid[str(request["messages"])] += 1

    with scripted(answering(say)) as server:
        with worker(server, shared, "section", 4) as victim:
            for _ in range(4):  # all four workers wait for an answer: what came before is stored
                assert held.acquire(timeout=60)
            victim.kill()
        assert victim.returncode == -9
        killed.set()
        (run,) = RunStore(shared).runs()
        assert 5 <= sum(run.tasks.values()) < N_INSTANCES
        assert worker(server, shared, "section", 4).communicate(timeout=120)[0].endswith(f"{N_INSTANCES}\n")
    (again,) = RunStore(shared).runs()
    assert (again.id, again.n_failed) == (run.id, 0)
    assert RunStore(shared).done(run.id, "er@10") == set(shared.ids("tiny"))
    # Three sections and the last step: four calls an instance, each answered once and only once.
    assert len(paid) == 4 * N_INSTANCES
    assert set(paid.values()) == {1}
    with shared.read() as db:
        assert db.execute("SELECT count(*) FROM llm_answers").fetchone() == (4 * N_INSTANCES,)


def test_only_what_could_not_be_read_is_asked_again(store: Store) -> None:
    first = {
        "0": reply("Hard to say."),
        "1": reply("DECISION: [1, 2", finish_reason="length"),
        "2": reply("DECISION: none"),
    }
    with scripted(answering(lambda sent: first.pop(cohort(sent), reply("DECISION: [3]")))) as server:
        reports = list(executing(server, store, concurrency=4))
        done = [report.done for report in reports]
        assert (done[0], done[-1], sorted(done), reports[-1].calls) == (0, 6, done, 6)
        asked_again = asking(store, server.url, fresh="unread")
        assert set(asked_again.missing) == {"tiny_0", "tiny_1"}
        assert estimate(asked_again).calls == 2
        assert finished(execute(asked_again)).done == 6
        assert len(server.requests) == 6 + 2
        assert asking(store, server.url, fresh="unread").missing == {}
    run = RunStore(store).run(reports[-1].run_id)
    assert (run.label, run.basis["prompts"][:4]) == ("llm model=m strategy=cot", "cot ")
    picks = RunStore(store).selections(run.id, "er@10")
    assert picks == {f"tiny_{number}": () if number == 2 else (3,) for number in range(6)}


def test_an_estimate_and_caps_go_on_from_what_the_run_has_had(store: Store) -> None:
    with scripted(reply("DECISION: [3]")) as server:
        guess = estimate(asking(store, server.url))
        assert guess.rests_on == {"guesses": 6}
        for calls, n_requests in ((4, 4), (4, 4), (5, 5)):  # the cap is of the run, over all its starts
            with pytest.raises(BudgetReachedError, match=f"cap of {calls} calls"):
                finished(executing(server, store, budget=Budget(calls=calls)))
            assert len(server.requests) == n_requests
        learnt = estimate(asking(store, server.url))
        assert (learnt.rests_on, learnt.completion_tokens) == ({"answers with these settings": 5}, 10)
        assert learnt.prompt_tokens == pytest.approx(100, abs=2)
