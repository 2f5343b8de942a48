"""The network: what it learns, and that its explanation adds up."""

import numpy as np
import pytest

from evidencebench_core.retrievers.ranker.network import N_NETWORKS, N_UNITS, Network, fit_network


def test_a_score_by_hand_and_its_contributions() -> None:
    # units 2x + y - 1 and -x; outputs u + 3v + y, and nothing
    network = Network(
        *(np.zeros(2), np.ones(2), np.array([[2.0, -1.0], [1.0, 0.0]]), np.array([-1.0, 0.0])),
        *(np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])),
    )
    rows = np.array([[1, 1], [-1, 0], [0, 0]], dtype=np.float32)
    assert network.scores(rows, 0).tolist() == [3, 3, 0]
    assert network.scores(rows, 1).tolist() == [0, 0, 0]
    # at (1, 1) the first unit is on along two thirds of the way from the means
    assert network.contributions(rows, 0) == pytest.approx(np.array([[4 / 3, 5 / 3], [3, 0], [0, 0]]))


def test_it_learns_whole_lists_and_explains_them_to_the_last_digit() -> None:
    rng = np.random.default_rng(0)
    papers = [rng.normal(size=(30, 6)).astype(np.float32) for _ in range(12)]
    best = [np.argsort(-rows[:, 0])[:3] for rows in papers]
    covering = [([places[:1], places[1:]], []) for places in best]
    network = fit_network(papers, [np.ones(30)] * 12, covering, n_own=5, seed=1, n_epochs=15)
    first = [
        int(network.scores(rows, 0).argmax()) in places for rows, places in zip(papers, best, strict=True)
    ]
    assert sum(first) >= 10
    rows = papers[0]
    rise = network.scores(rows, 0) - network.scores(network.means[None].astype(np.float32), 0)
    assert network.contributions(rows, 0).sum(axis=1) == pytest.approx(rise, abs=1e-3)


def test_every_other_network_is_blind_to_the_sentences_around() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    covering = [([np.array([3])], [])] * 8
    network = fit_network([rows] * 8, [np.ones(30)] * 8, covering, n_own=3, seed=0, n_epochs=1)
    seen = network.hidden.reshape(4, N_NETWORKS, N_UNITS).any(axis=2)
    assert seen.tolist() == [[True] * N_NETWORKS] * 3 + [[False, True] * (N_NETWORKS // 2)]
