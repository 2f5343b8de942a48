from __future__ import annotations

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.runs import (
    execute,
    plan,
    score_predictions,
    score_run,
)


def executed(store: Store, retriever: str, dataset: str = "tiny", limit: int | None = None) -> str:
    *_, last = execute(plan(store, dataset, retriever, limit=limit))
    return last.run_id


def test_score_of_a_run(store: Store) -> None:
    score = score_run(store, executed(store, "lead")[:6], "er@10")
    # Aspects stand at number, {number+3, number+5}, {number+5, number+7}, modulo 12; lead picks 0 to 9.
    # tiny_0: 0 | 3,5 | 5,7 all. ... tiny_4: 4 | 7,9 | 9,11 all. tiny_5: 5 | 8,10 | 10,0 all.
    assert score.aspect_recall == 1.0
    assert (score.n_scored, score.n_skipped, score.n_missing) == (6, 0, 0)


def test_unanswered_instances_are_missing(store: Store) -> None:
    run_id = executed(store, "oracle", limit=4)
    score = score_run(store, run_id, "er@optimal")
    assert (score.n_scored, score.missing, score.aspect_recall) == (4, ("tiny_4", "tiny_5"), 1.0)
    zero = score_run(store, run_id, "er@optimal", missing="zero")
    assert (zero.n_scored, zero.aspect_recall) == (6, pytest.approx(4 / 6))
    never = score_run(store, run_id, "er@3")
    assert (never.n_scored, never.n_missing, never.aspect_recall) == (0, 6, None)


def test_predictions(store: Store) -> None:
    predictions: dict[str, object] = {"tiny_0": [5, 5, 0], "tiny_1": [], "tiny_2": [2, 11, 10, 9]}
    score = score_predictions(store, "tiny", predictions, "er@optimal")
    # tiny_0: 5 and 0 cover all three. tiny_1: nothing. tiny_2 (method {2}, outcome {5, 7}, harm {7, 9}):
    # four picks for a budget of 2, one covers method, one harm: each is drawn with probability
    # 1 - C(3,2)/C(4,2) = 1/2, so (1/2 + 0 + 1/2) / 3 = 1/3.
    assert dict(score.per_instance) == pytest.approx({"tiny_0": 1.0, "tiny_1": 0.0, "tiny_2": 1 / 3})
    assert (score.n_scored, score.n_missing, score.n_empty) == (3, 3, 1)
