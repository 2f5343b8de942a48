"""Anybody's system over a dataset in one call."""

from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers import Query, query_of
from evidencebench_core.runs import (
    DEFAULT_TASKS,
    RunStore,
    Sample,
    evaluate,
    plan,
    run,
    score_predictions,
    score_run,
)
from tests.factories import raw_dataset, written


def lengths(query: Query) -> list[float]:
    """Longer sentences first."""
    return [float(len(sentence)) for sentence in query.sentences]


def order(query: Query) -> list[int]:
    return sorted(range(len(query.sentences)), key=lambda index: -len(query.sentences[index]))


class ByBudget:
    by_budget = True

    def rank(self, query: Query) -> list[int]:
        return order(query)[: query.budget]


@pytest.mark.parametrize("system", [lengths, order, ByBudget()])
def test_what_a_system_answers_is_scored_and_kept(store: Store, system: Any) -> None:
    done = evaluate(system, "tiny", name="mine", store=store)
    rankings = {instance.id: order(query_of(instance)) for instance in store.iter("tiny")}
    for task, k in (("er@10", 10), ("result-er@5", 5)):
        picks = {name: ranking[:k] for name, ranking in rankings.items()}
        assert score_run(store, done, task) == score_predictions(store, "tiny", picks, task)
    assert done.scores == tuple(score_run(store, done, task) for task in DEFAULT_TASKS)
    assert RunStore(store).runs() == (done.run,)
    assert (done.run.label, done.failures) == ("mine (own)", ())
    assert f"run {done.id}" in repr(done)
    assert "<table" in done._repr_html_()


def test_the_same_name_again_takes_the_place_of_what_it_answered(store: Store) -> None:
    first = evaluate(lengths, "tiny", store=store)
    again = evaluate(lambda query: order(query)[::-1], "tiny", name="lengths", store=store)
    assert (again.id, first.run.label) == (first.id, "lengths (own)")
    assert first.run.stamp != again.run.stamp
    assert score_run(store, first.id, "er@optimal") == again.scores[0] != first.scores[0]


def test_a_name_is_a_retriever(store: Store) -> None:
    done = evaluate("bm25", "tiny", ["er@3"], settings={"k1": 1.2}, store=store)
    assert done.run == run(store, "tiny", "bm25", {"k1": 1.2})
    for system, settings in ((lengths, {"k1": 1.2}), (ByBudget, None), (3, None)):
        with pytest.raises(SettingError):
            evaluate(system, "tiny", settings=settings, store=store)


def test_an_error_fails_its_instance_alone(store: Store) -> None:
    def fragile(query: Query) -> list[float]:
        if query.hypothesis.endswith("cohort 2."):
            raise ZeroDivisionError("of\nmine")
        return lengths(query)

    done = evaluate(fragile, "tiny", ["er@10"], store=store)
    assert [(score.n_scored, score.n_missing) for score in done.scores] == [(5, 1)]
    (reason,) = done.failures
    assert "\n" not in reason
    with pytest.raises(RetrieverError):
        evaluate(lambda _: 1 / 0, "tiny", name="broken", store=store)


@pytest.fixture
def pairs(store: Store, tmp_path: Path) -> Store:
    """Ten instances of five papers."""
    raw = raw_dataset(10)
    for number, record in enumerate(raw.values()):
        record["paper_id"] = f"paper_{number // 2}"
    ingest(store, written(raw, tmp_path / "pairs.json"), "pairs")
    return store


def test_a_sample_takes_papers_whole_and_is_scored_over_its_own(pairs: Store) -> None:
    dataset = pairs.dataset("pairs")
    papers = pairs.paper_ids(dataset)
    for n, n_drawn in ((1, 2), (3, 4), (4, 4), (99, 10)):
        ids = Sample(n, 1).ids(pairs, dataset)
        assert len(ids) == n_drawn
        assert ids == Sample(n, 1).ids(pairs, dataset)
        drawn = {papers[name] for name in ids}
        assert set(ids) == {name for name, paper in papers.items() if paper in drawn}
        assert list(ids) == [name for name in papers if name in ids]
    assert len({Sample(4, seed).ids(pairs, dataset) for seed in range(9)}) > 1
    with pytest.raises(SettingError):
        Sample(0).ids(pairs, dataset)
    sample = Sample(3, 1)
    info = run(pairs, "pairs", "lead", sample=sample)
    assert (info.sample, info.label) == (sample, f"lead [{sample}]")
    assert info.id != plan(pairs, "pairs", "lead").run_id
    score = score_run(pairs, info, "er@10")
    assert (score.per_instance.keys(), score.n_missing) == (set(sample.ids(pairs, dataset)), 0)
