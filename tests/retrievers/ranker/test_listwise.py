"""The listwise weights: by hand, at their least loss, and whatever order their sums are made in."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencebench_core.retrievers.ranker.listwise import aspects_of, listwise_weights

SIZES = (9, 1, 14, 30)
COVERING = [
    [np.array([0, 3]), np.array([3])],
    [np.array([0])],
    [np.array([13]), np.arange(14), np.array([1, 2, 5])],
    [np.array([7])],
]


def made_up(n_columns: int = 6, scale: float = 1.0) -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(sum(SIZES), n_columns)) * scale


def loss(columns: NDArray[np.float64], weights: NDArray[np.float64], penalty: float) -> float:
    """As the module's docstring has it, in plain loops."""
    whole, start = penalty / 2 * float(weights @ weights), 0
    for size, covering in zip(SIZES, COVERING, strict=True):
        odds = np.exp(columns[start : start + size] @ weights)
        whole -= float(np.mean([np.log(odds[rows].sum() / odds.sum()) for rows in covering]))
        start += size
    return whole


def test_two_sentences_by_hand() -> None:
    # -log(1 / (1 + exp(-w))) + w**2 / 2 is least where w = 1 / (1 + exp(w))
    aspects = aspects_of([[np.array([0])]], [np.ones(2)])
    (found,) = listwise_weights(np.array([[1.0], [0.0]]), aspects, 1.0)
    assert found == pytest.approx(0.4010581375415453, abs=1e-14)
    # a row that stands for three sentences is three rows
    together = aspects_of([[np.array([0])]], [np.array([1.0, 3.0])])
    apart = aspects_of([[np.array([0])]], [np.ones(4)])
    (three,) = listwise_weights(np.array([[1.0], [0.0]]), together, 1.0)
    assert three == pytest.approx(listwise_weights(np.eye(4)[:, :1], apart, 1.0)[0], abs=1e-14)


@pytest.mark.parametrize(("scale", "penalty"), [(1.0, 8.0), (1.0, 0.1), (30.0, 0.01)])
def test_no_weights_near_by_are_better(scale: float, penalty: float) -> None:
    columns, rng = made_up(scale=scale), np.random.default_rng(1)
    found = listwise_weights(columns, aspects_of(COVERING, [np.ones(one) for one in SIZES]), penalty)
    least = loss(columns, found, penalty)
    assert least < loss(columns, np.zeros(6), penalty)
    for _ in range(50):
        assert loss(columns, found + 1e-3 / scale * rng.normal(size=6), penalty) > least


def test_the_order_of_columns_changes_only_the_last_digits() -> None:
    aspects = aspects_of(COVERING, [np.ones(one) for one in SIZES])
    columns = made_up()
    forwards, backwards = (listwise_weights(one, aspects, 2.0) for one in (columns, columns[:, ::-1].copy()))
    assert np.abs(forwards - backwards[::-1]).max() < 1e-13


def test_columns_that_say_nothing_have_no_weight() -> None:
    columns = made_up()
    columns[:, 2] = 0.0
    assert listwise_weights(columns, aspects_of(COVERING, [np.ones(one) for one in SIZES]), 1.0)[2] == 0.0
