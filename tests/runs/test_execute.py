"""What is asked, once; what goes wrong, stops or runs twice; and that the end is the same."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import RetrieverError, StoreError
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.own import OwnSystem
from evidencebench_core.runs import DEFAULT_TASKS, Plan, RunStore, execute, plan
from tests.factories import raw_dataset, written
from tests.runs.conftest import finished


class Counting:
    """Answers like ``lead`` and remembers what it was asked; fails where it is told to."""

    def __init__(
        self, fails: Callable[[Query], bool] = lambda _: False, by_focus: bool = True, by_budget: bool = True
    ) -> None:
        self.asked: list[tuple[str, str, int | None]] = []
        self.fails, self.by_focus, self.by_budget = fails, by_focus, by_budget

    def rank(self, query: Query) -> Any:
        self.asked.append((query.hypothesis, query.focus, query.budget))
        if self.fails(query):
            raise RetrieverError("lead", "is out of order", "Wait.")
        return range(len(query.sentences))[: query.budget]


def planned(store: Store, system: Counting, **options: Any) -> Plan:
    return plan(store, "tiny", OwnSystem(system, "counting"), **options)


def answers(store: Store, run_id: str) -> dict[tuple[str, str], Retrieval]:
    """All that a run holds, but for the seconds."""
    runs = RunStore(store)
    held = {
        (task, unit): answer
        for task in runs.run(run_id).tasks
        for unit, answer in runs.retrievals(run_id, task).items()
    }
    return {pair: replace(answer, seconds=0.0) for pair, answer in held.items()}


@pytest.mark.parametrize(
    ("by_focus", "by_budget", "n_answers"),
    [
        (False, False, {"": 6}),
        (True, False, {"all": 6, "results": 5}),  # tiny_4 has no results
        (True, True, {"er@optimal": 6, "er@10": 6, "result-er@optimal": 5, "result-er@5": 5}),
    ],
)
def test_a_question_is_asked_once(
    store: Store, by_focus: bool, by_budget: bool, n_answers: dict[str, int]
) -> None:
    lead = Counting(by_focus=by_focus, by_budget=by_budget)
    running = execute(planned(store, lead))
    assert next(running).total == 6
    assert lead.asked == []  # the first report comes before any work
    reports = list(running)
    assert [report.done for report in reports] == [1, 6]  # the first result is there at once
    assert len(lead.asked) == len(set(lead.asked)) == sum(n_answers.values())
    run = RunStore(store).run(reports[-1].run_id)
    assert run.answered == n_answers
    assert run.tasks == {"er@optimal": 6, "er@10": 6, "result-er@optimal": 5, "result-er@5": 5}
    answer = RunStore(store).retrieval(run.id, "er@10", "tiny_0")
    assert answer is not None
    assert answer.selection == tuple(range(10))
    assert answer.seconds > 0


def test_budgets_are_those_of_the_task_and_the_instance(store: Store) -> None:
    lead = Counting()
    tasks = [*DEFAULT_TASKS, "result-er@unconstrained", "er@3"]
    finished(execute(planned(store, lead, tasks=tasks, limit=1)))
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}: 0 and 5 cover all, 5 alone covers the results.
    budgets = {("all", 2), ("all", 10), ("results", 1), ("results", 5), ("results", None), ("all", 3)}
    assert {(focus, budget) for _, focus, budget in lead.asked} == budgets


def test_nothing_is_asked_twice(store: Store) -> None:
    lead = Counting()
    run_id = finished(execute(planned(store, lead, limit=2))).run_id
    before = answers(store, run_id)
    last = finished(execute(planned(store, lead)))
    assert len(lead.asked) == len(set(lead.asked)) == 22
    again = list(execute(planned(store, lead)))
    assert len(lead.asked) == 22
    assert [(report.done, report.total) for report in again] == [(6, 6)]
    assert before.items() <= answers(store, last.run_id).items()
    more = list(execute(planned(store, lead, tasks=["ER@3 ", "er@10", "er@3"])))  # it gains a task
    assert (more[0].done, more[-1].done, more[-1].run_id, len(lead.asked)) == (0, 6, last.run_id, 28)


def test_one_plan_carried_out_twice_asks_nothing_twice(store: Store) -> None:
    lead = Counting()
    shared = planned(store, lead)
    first, second = execute(shared), execute(shared)
    next(first)
    with pytest.raises(StoreError):  # while the first is under way
        list(second)
    list(first)
    assert [report.done for report in execute(shared)] == [6]
    assert len(lead.asked) == 22
    both = Barrier(2)

    def ask(other: Plan) -> int:
        both.wait()
        try:
            return finished(execute(other)).done
        except StoreError:
            return 0

    other = planned(store, lead, tasks=["er@3"])
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(ask, [other] * 2)) <= {0, 6}
    assert len(lead.asked) == 28


def test_failures_are_kept_counted_and_tried_again(store: Store) -> None:
    def fails(query: Query) -> bool:
        return query.hypothesis.endswith("cohort 1.") and query.focus == "results"

    last = finished(execute(planned(store, Counting(fails))))
    assert (last.done, last.total, last.failed) == (5, 6, 1)
    runs = RunStore(store)
    assert runs.failures(last.run_id, "result-er@5") == {"tiny_1": "Lead is out of order. Wait."}
    assert runs.run(last.run_id).n_failed == 2
    working = Counting()
    assert list(planned(store, working, tasks=["er@3", "result-er@5"]).missing)[-1] == "tiny_1"  # last
    last = finished(execute(planned(store, working)))
    assert (last.done, last.total, last.failed) == (6, 6, 0)
    assert [focus for _, focus, _ in working.asked] == ["results", "results"]
    assert runs.run(last.run_id).n_failed == 0


@pytest.mark.parametrize(
    ("retriever", "questions"),
    [("bm25", {""}), ("structure", {"all", "results"}), ("oracle", {*DEFAULT_TASKS})],
)
@pytest.mark.usefixtures("hashing_encoder")
def test_only_what_makes_a_difference_is_asked_apart(
    store: Store, retriever: str, questions: set[str]
) -> None:
    run_id = finished(execute(plan(store, "tiny", retriever))).run_id
    runs = RunStore(store)
    assert set(runs.run(run_id).answered) == questions
    for task in ("er@20", "er@3"):
        planned = plan(store, "tiny", retriever, tasks=[task])
        assert planned.run_id == run_id
        assert len(planned.missing) == (6 if retriever == "oracle" else 0)
        of_three = {unit: answer.ranking[:3] for unit, answer in runs.retrievals(run_id, "er@10").items()}
        if retriever != "oracle":
            assert runs.selections(run_id, "er@3") == of_three


@pytest.mark.parametrize("retriever", ["dense", "rerank"])
def test_a_model_trained_again_in_its_folder_is_another_run(
    store: Store, tmp_path: Path, retriever: str
) -> None:
    (tmp_path / "model").mkdir()
    run_ids = []
    for file in ("config.json", "README.md", "weights"):
        (tmp_path / "model" / file).write_text("{}")
        run_ids.append(plan(store, "tiny", retriever, {"model": str(tmp_path / "model")}).run_id)
    assert run_ids[0] == run_ids[1] != run_ids[2]


def test_oracle_gets_the_gold_of_each_instance(store: Store) -> None:
    last = finished(execute(plan(store, "tiny", "oracle", tasks=["result-er@optimal"])))
    # The result aspects {3, 5} and {5, 7} of tiny_0 share sentence 5; each next instance is shifted by one.
    selections = RunStore(store).selections(last.run_id, "result-er@optimal")
    assert selections == {"tiny_0": (5,), "tiny_1": (6,), "tiny_2": (7,), "tiny_3": (8,), "tiny_5": (10,)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    retriever=st.sampled_from(["random", "bm25", "oracle", "abstract-tail"]),
    stops=st.lists(st.integers(0, 9), max_size=6),
    limits=st.lists(st.none() | st.integers(1, 6), min_size=1, max_size=3),
    closes=st.booleans(),
)
def test_however_often_interrupted_a_run_ends_like_one_that_was_not(
    tmp_path_factory: pytest.TempPathFactory,
    retriever: str,
    stops: list[int],
    limits: list[int | None],
    closes: bool,
) -> None:
    folder = tmp_path_factory.mktemp("resume")
    path = written(raw_dataset(6), folder / "tiny.json")
    whole, parts = open_store(folder / "whole.sqlite"), open_store(folder / "parts.sqlite")
    for store in (whole, parts):
        ingest(store, path, name="tiny")
    run_id = finished(execute(plan(whole, "tiny", retriever))).run_id

    for number, stop in enumerate(stops):
        queries = iter(range(stop))
        limit = limits[number % len(limits)]
        cancelled = partial(lambda queries: next(queries, None) is None, queries)
        reports = execute(plan(parts, "tiny", retriever, limit=limit), cancelled=cancelled)
        if closes:  # dropped after two reports, as by a closed page
            next(reports)
            next(reports, None)
            reports.close()  # type: ignore[attr-defined]
        else:
            finished(reports)
    assert finished(execute(plan(parts, "tiny", retriever))).run_id == run_id
    assert answers(parts, run_id) == answers(whole, run_id)
