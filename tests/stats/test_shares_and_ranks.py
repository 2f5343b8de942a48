"""Shares with Wilson's interval, Cochran's Q, rank correlations: by hand, and against scipy."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from evidencebench_core.stats import cochran_q, interval, kendall_tau, rank_agreement, share, spearman_rho


def test_wilsons_interval_has_a_width_at_the_ends() -> None:
    z = 1.959964
    ends = share([1.0] * 24)
    assert (ends.value, ends.n, ends.high) == (1.0, 24, 1.0)
    assert ends.low == pytest.approx(24 / (24 + z * z), abs=1e-6)
    half = share([1, 0] * 50)
    reach = z * np.sqrt(100 * 0.25 + z * z / 4) / (100 + z * z)
    assert (half.low, half.high) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-6)
    clustered = [1, 1, 0, 1], ["a", "a", "b", "c"]
    assert share(*clustered) == interval(*clustered)
    assert share([]).value is None


def test_cochrans_q() -> None:
    # Two columns: McNemar's statistic without continuity, (4 - 1)² / 5 on one degree of freedom.
    table = [[1, 0]] * 4 + [[0, 1]] + [[1, 1]] * 3
    assert cochran_q(table) == pytest.approx(0.179712, abs=1e-6)
    assert cochran_q([[1, 1], [0, 0]]) is None
    assert cochran_q([[1], [0]]) is None
    rng = np.random.default_rng(0)
    p_values = [cochran_q(rng.integers(0, 2, (60, 4))) or 1 for _ in range(400)]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.025)


def test_rank_correlations() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 5, (20, 12)) / 4, rng.integers(0, 5, (20, 12)) / 4
    tau = [kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)]
    rho = [spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert kendall_tau(a, b) == pytest.approx(tau)
    assert spearman_rho(a, b) == pytest.approx(rho)
    assert np.isnan(kendall_tau([[1, 1, 1]], [[1, 2, 3]])).all()
    assert np.isnan(spearman_rho([[1, 1, 1]], [[1, 2, 3]])).all()


def test_the_order_of_means_where_values_are_missing() -> None:
    people = [[0.1, 0.5, np.nan], [0.3, 0.5, 0.8], [0.2, np.nan, 0.6]]
    tau, rho = rank_agreement(people, np.array(people) ** 2)
    assert (tau.value, rho.value, tau.n) == (1.0, 1.0, 3)
    tau, rho = rank_agreement(people, -np.array(people))
    assert (tau.value, rho.value) == (-1.0, -1.0)
