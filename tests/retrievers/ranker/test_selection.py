from __future__ import annotations

import math

import numpy as np
import pytest

from evidencebench_core.retrievers.ranker.model import Selecting
from evidencebench_core.retrievers.ranker.selection import expected_coverage_order


def order(scores: list[float], similarities: object, n_picks: int = 99, **how: float) -> list[int]:
    selecting = Selecting(**{"sharpness": 1.0, "closeness": 1.0, **how})
    picks = expected_coverage_order(
        np.array(scores, dtype=float), np.array(similarities, dtype=np.float32), n_picks, selecting
    )
    return [pick.sentence for pick in picks]


def test_three_sentences_by_hand() -> None:
    # Standardised scores are (1, 1, -2) / sqrt 2, so shares are e^z / sum = 0.4717, 0.4717, 0.0565.
    # 0 and 1 say the same with 0.9. With reach 0, 0 comes first (a tie: the first that stands), which leaves
    # 0.1 * 0.4717 = 0.0472 of 1's share; of 2's all 0.0565: 2 before 1, though its score is lower.
    similar = [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]
    assert order([1, 1, 0], similar, reach=0.0) == [0, 2, 1]
    picks = expected_coverage_order(
        np.array([1.0, 1, 0]), np.array(similar, dtype=np.float32), 3, Selecting(1.0, 1.0, 0.0)
    )
    top, low = math.exp(1 / math.sqrt(2)), math.exp(-2 / math.sqrt(2))
    assert picks[0].share == pytest.approx(top / (2 * top + low))
    assert picks[2].repeated == pytest.approx(0.9)
    assert picks[2].gain == pytest.approx(0.1 * picks[0].share)


def test_without_redundancy_it_is_the_order_of_the_scores() -> None:
    assert order([0.1, 3, 2, 3], np.eye(4)) == [1, 3, 2, 0]


def test_all_alike_keep_the_order_of_the_paper() -> None:
    assert order([5, 5, 5], np.eye(3)) == [0, 1, 2]


def test_no_more_picks_than_sentences() -> None:
    assert order([1, 2], np.eye(2), 10) == [1, 0]
    assert order([1, 2, 3], np.eye(3), 1) == [2]
    assert order([1], np.eye(1)) == [0]


@pytest.mark.parametrize("seed", range(10))
def test_with_full_reach_it_is_greedy_probabilistic_coverage(seed: int) -> None:
    # F(S) = sum_j w_j (1 - prod_{s in S} (1 - q_sj)), maximised one pick at a time, from its definition
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(7, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores, similar = rng.normal(size=7), np.clip(vectors @ vectors.T, -1, 1)
    standard = (scores - scores.mean()) / scores.std()
    share = np.exp(2 * standard) / np.exp(2 * standard).sum()
    covers = np.maximum(similar, 0) ** 1.5
    np.fill_diagonal(covers, 1)

    def covered(chosen: list[int]) -> float:
        return float((share * (1 - np.prod(1 - covers[chosen], axis=0))).sum())

    expected: list[int] = []
    for _ in range(4):
        expected.append(max(set(range(7)) - {*expected}, key=lambda one: covered([*expected, one])))
    assert order(list(scores), similar, 4, sharpness=2.0, closeness=1.5, reach=1.0) == expected
