import numpy as np
import pytest

from evidencebench_core.retrievers.ranker.selection import Selecting, picks_of


def order(scores: list[float], similarities: object, budget: int = 99, **numbers: float) -> list[int]:
    selecting = Selecting(**{"sharpness": 1.0, "closeness": 1.0, **numbers})
    return list(picks_of(np.array(scores, float), np.array(similarities, np.float32), selecting, budget))


def test_three_sentences_by_hand() -> None:
    # Standardised scores are (1, 1, -2) / sqrt 2, so shares are e^z / sum = 0.4717, 0.4717, 0.0565.
    # 0 and 1 say the same with 0.9. With a weight of 0, 0 comes first (a tie: the first that stands), which leaves
    # 0.1 * 0.4717 = 0.0472 of 1's share; of 2's all 0.0565: 2 before 1, though its score is lower.
    assert order([1, 1, 0], [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]], overlap_weight=0.0) == [0, 2, 1]


@pytest.mark.parametrize(("n", "budget", "n_picks"), [(5, 2, 5), (50, 2, 30), (50, 40, 40), (50, 99, 50)])
def test_the_budget_and_at_least_thirty_are_chosen_one_by_one(n: int, budget: int, n_picks: int) -> None:
    assert order(list(range(n)), np.eye(n), budget) == list(range(n))[::-1][:n_picks]


@pytest.mark.parametrize("seed", range(10))
def test_with_full_weight_it_is_greedy_probabilistic_coverage(seed: int) -> None:
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
    assert order(list(scores), similar, 4, sharpness=2.0, closeness=1.5, overlap_weight=1.0)[:4] == expected
