"""Rank correlation of values (spec rule 41, example 12.10)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import kendall_tau, kendall_tau_b, rank_correlation, spearman_rho


@pytest.mark.parametrize(
    ("x", "y", "rho", "tau"),
    [
        ([60, 55, 55, 40, 20, 0], [58, 40, 50, 45, 10, 0], 0.898645, 0.828079),
        ([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], 0.8, 0.6),
    ],
)
def test_the_worked_example(x: list[float], y: list[float], rho: float, tau: float) -> None:
    assert spearman_rho(x, y) == pytest.approx(rho, abs=1e-6)
    assert kendall_tau_b(x, y) == pytest.approx(tau, abs=1e-6)


def test_orders_of_names_are_correlated_by_rank_and_not_as_lists() -> None:
    """Fault C17: the authors' script correlates the lists of systems, best first."""
    first, second = (0, 2, 1, 3), (1, 3, 0, 2)
    ranks = [[order.index(system) for system in range(4)] for order in (first, second)]
    assert spearman_rho(*ranks) == pytest.approx(-0.6)
    assert kendall_tau_b(*ranks) == pytest.approx(-1 / 3)
    assert kendall_tau(first, second) == pytest.approx(-1 / 3)
    assert spearman_rho(first, second) == pytest.approx(0.6)  # what is wrong


VALUES = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12))
def test_both_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = map(list, zip(*pairs, strict=True))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(spearman_rho(x, y))
        assert np.isnan(kendall_tau_b(x, y))
        return
    assert spearman_rho(x, y) == pytest.approx(spearmanr(x, y).statistic)
    assert kendall_tau_b(x, y) == pytest.approx(kendalltau(x, y).statistic)


def test_a_constant_metric_has_no_correlation() -> None:
    constant, other = np.full((3, 4), 0.1), np.arange(12.0).reshape(3, 4)
    found = rank_correlation(constant, other, np.random.default_rng(0), 50)
    assert (found.rho, found.tau, found.rho_ci95, found.n_systems, found.n_questions) == (
        None,
        None,
        None,
        3,
        4,
    )


def test_means_are_over_the_questions_that_have_a_value() -> None:
    values = np.array([[1.0, np.nan], [0.0, 0.9], [0.2, 0.2]])
    found = rank_correlation(values, [[3, 3], [2, 2], [1, 1]], np.random.default_rng(0), 100)
    assert found.rho == 1.0  # 1, 0.45, 0.2
    assert found.tau_ci95 is not None
    one = rank_correlation(values[:, :1], [[3], [2], [1]], np.random.default_rng(0), 100)
    assert one.rho_ci95 is None


def test_other_shapes_are_refused() -> None:
    with pytest.raises(SettingError, match="one row a system"):
        rank_correlation([1, 2], [1, 2], np.random.default_rng(0))
