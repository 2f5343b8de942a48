from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, Retrieval, Setting
from evidencebench_core.runs import DEFAULT_TASKS, Progress, RunStore, execute, plan
from tests.factories import raw_dataset, written

MODULE = import_module("evidencebench_core.runs.planning")  # the package has the function under this name


class Counting:
    """Answers like ``lead`` and remembers what it was asked; fails where it is told to."""

    name = "lead"
    settings: Mapping[str, Setting] = MappingProxyType({})
    training = ()

    def __init__(self, fails: Callable[[Query], bool]) -> None:
        self.asked: list[tuple[str, str, int | None]] = []
        self.fails = fails

    def retrieve(self, query: Query) -> Retrieval:
        self.asked.append((query.hypothesis, query.focus, query.budget))
        if self.fails(query):
            raise RetrieverError("lead", "is out of order", "Wait.")
        ranking = tuple(range(len(query.sentences)))
        return Retrieval(ranking, tuple(-float(index) for index in ranking), ranking[: query.budget])


Use = Callable[..., Counting]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Puts a counting retriever in the place of ``lead``."""

    def put(fails: Callable[[Query], bool] = lambda _: False) -> Counting:
        retriever = Counting(fails)
        monkeypatch.setattr(MODULE, "make_retriever", lambda *_args, **_kwargs: retriever)
        return retriever

    return put


def finished(reports: Iterator[Progress]) -> Progress:
    *_, last = reports
    return last


def answers(store: Store, run_id: str) -> dict[tuple[str, str], Retrieval]:
    """All that a run holds, but for the seconds."""
    runs = RunStore(store)
    pairs = [(task, id_) for task in runs.run(run_id).tasks for id_ in store.ids("tiny")]
    held = {pair: runs.retrieval(run_id, *pair) for pair in pairs}
    return {pair: replace(one, seconds=0.0) for pair, one in held.items() if one is not None}


def test_every_instance_is_asked_for_every_task_it_has(store: Store, use: Use) -> None:
    lead = use()
    running = execute(plan(store, "tiny", "lead"))
    assert next(running).total == 6
    assert lead.asked == []  # the first report comes before any work
    reports = list(running)
    assert [report.done for report in reports] == [1, 6]  # the first result is there at once
    # 6 instances have 2 ER tasks; tiny_4 has no results, the other 5 have 2 Result tasks: 12 + 10.
    assert len(lead.asked) == len(set(lead.asked)) == 22
    run = RunStore(store).run(reports[-1].run_id)
    assert dict(run.tasks) == {"er@optimal": 6, "er@10": 6, "result-er@optimal": 5, "result-er@5": 5}
    answer = RunStore(store).retrieval(run.id, "er@10", "tiny_0")
    assert answer is not None
    assert answer.seconds > 0  # measured where the retriever does not


def test_budgets_are_those_of_the_task_and_the_instance(store: Store, use: Use) -> None:
    lead = use()
    tasks = [*DEFAULT_TASKS, "result-er@unconstrained", "er@3"]
    finished(execute(plan(store, "tiny", "lead", tasks=tasks, limit=1)))
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}: 0 and 5 cover all, 5 alone covers the results.
    budgets = [("all", 2), ("all", 10), ("results", 1), ("results", 5), ("results", None), ("all", 3)]
    assert [(focus, budget) for _, focus, budget in lead.asked] == budgets


def test_nothing_is_asked_twice(store: Store, use: Use) -> None:
    lead = use()
    finished(execute(plan(store, "tiny", "lead", limit=2)))
    before = answers(store, RunStore(store).runs()[0].id)
    last = finished(execute(plan(store, "tiny", "lead")))
    assert len(lead.asked) == len(set(lead.asked)) == 22
    again = list(execute(plan(store, "tiny", "lead")))
    assert len(lead.asked) == 22
    assert [(report.done, report.total) for report in again] == [(6, 6)]
    assert before.items() <= answers(store, last.run_id).items()
    more = list(execute(plan(store, "tiny", "lead", tasks=["ER@3 ", "er@10", "er@3"])))  # it gains a task
    assert (more[0].done, more[-1].done, more[-1].run_id, len(lead.asked)) == (0, 6, last.run_id, 28)


def test_failures_are_kept_counted_and_tried_again(store: Store, use: Use) -> None:
    def fails(query: Query) -> bool:
        return query.hypothesis.endswith("cohort 1.") and query.focus == "results"

    use(fails)
    last = finished(execute(plan(store, "tiny", "lead")))
    assert (last.done, last.total, last.failed) == (5, 6, 1)
    runs = RunStore(store)
    assert runs.failures(last.run_id, "result-er@5") == {"tiny_1": "lead: is out of order. Wait."}
    assert runs.run(last.run_id).n_failed == 2
    working = use()
    last = finished(execute(plan(store, "tiny", "lead")))
    assert (last.done, last.total, last.failed) == (6, 6, 0)
    assert [focus for _, focus, _ in working.asked] == ["results", "results"]
    assert runs.run(last.run_id).n_failed == 0


def test_oracle_gets_the_gold_of_each_instance(store: Store) -> None:
    last = finished(execute(plan(store, "tiny", "oracle", tasks=["result-er@optimal"])))
    # The result aspects {3, 5} and {5, 7} of tiny_0 share sentence 5; each next instance is shifted by one.
    selections = {id_: one.selection for (_, id_), one in answers(store, last.run_id).items()}
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
        else:
            finished(reports)
    assert finished(execute(plan(parts, "tiny", retriever))).run_id == run_id
    assert answers(parts, run_id) == answers(whole, run_id)
