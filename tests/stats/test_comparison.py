"""Pairs of systems, any number of systems, and clusters of instances."""

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import (
    PairedComparison,
    bootstrap_interval,
    cluster_numbers,
    cluster_sums,
    compare_matrix,
    compare_paired,
    resampled_matrix,
)

SHARES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def recalls(n_systems: int, n: int, seed: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    aspects = rng.integers(2, 12, size=n)
    return rng.binomial(aspects, np.linspace(0.4, 0.55, n_systems)[:, None]) / aspects


def test_by_hand() -> None:
    # Differences 0.5, 0.25, 0: mean 0.25. Of the 4 flips of the two that differ, sums 0.75, 0.25, -0.25,
    # -0.75: two are as far from 0 as 0.75, so p = 2/4. sd = sqrt(0.125 / 2) = 0.25, d_z = 1.
    # z(0.975) + z(0.8) = 1.959964 + 0.841621 = 2.801585.
    rows = [[1.0, 0.5, 0.3], [0.5, 0.25, 0.3]]
    pair = compare_paired(*rows, generator())
    assert (pair.n, pair.wins, pair.ties, pair.losses, pair.p_value) == (3, 2, 1, 0, 0.5)
    assert (pair.mean_a, pair.mean_b, pair.mean_difference) == pytest.approx((0.6, 0.35, 0.25))
    assert pair.ci95 is not None
    assert pair.ci95[0] <= 0.25 <= pair.ci95[1]

    every = compare_matrix(rows, generator(), 200)
    assert (every.n, every.n_clusters) == (3, 3)
    assert every.mean == pytest.approx([0.6, 0.35])
    assert every.difference == pytest.approx(np.array([[0, 0.25], [-0.25, 0]]))
    assert (every.wins[0, 1], every.ties[0, 1], every.wins[1, 0]) == (2, 1, 0)
    assert every.p_value[0, 1] == every.p_value[1, 0] == every.p_holm[0, 1] == 0.5
    assert (every.effect[0, 1], every.effect[1, 0]) == pytest.approx((1.0, -1.0))
    assert every.smallest_detectable[0, 1] == pytest.approx(2.801585 * 0.25 / 3**0.5, abs=1e-5)
    assert np.isnan(np.diag(every.p_value)).all()


def test_systems_that_are_alike() -> None:
    pair = compare_paired([0.5, 0.25], [0.5, 0.25], generator())
    assert (pair.mean_difference, pair.ci95, pair.p_value) == (0.0, (0.0, 0.0), 1.0)
    pair = compare_paired([0.1 + 0.2, 0.5], [0.3, 0.5], generator())
    assert (pair.wins, pair.ties, pair.losses, pair.p_value) == (0, 2, 0, 1.0)  # rounding is no win
    row = recalls(1, 60)[0]
    every = compare_matrix([row, row], generator(), 500)
    assert (every.low[0, 1], every.high[0, 1], every.p_value[0, 1]) == (0.0, 0.0, 1.0)
    assert np.isnan(every.effect[0, 1])


def test_too_little_to_judge() -> None:
    assert compare_paired([], [], generator()) == PairedComparison(0, None, None, None, None, None, 0, 0, 0)
    one = compare_paired([0.75], [0.25], generator())
    assert one == PairedComparison(1, 0.75, 0.25, 0.5, None, None, 1, 0, 0)
    one_paper = compare_paired([0.1, 0.9], [0.0, 0.0], generator(), clusters=["a", "a"])
    assert (one_paper.ci95, one_paper.p_value, one_paper.wins) == (None, None, 2)


@pytest.mark.parametrize("shape", [(3, 0), (3, 1), (1, 5), (0, 0)])
def test_too_little_for_a_matrix(shape: tuple[int, int]) -> None:
    every = compare_matrix(np.full(shape, 0.5), generator(), 50)
    assert every.p_value.shape == (shape[0], shape[0])
    assert np.isnan(every.p_value).all()
    if shape[1] < 2:
        for undefined in (every.interval, every.low, every.effect, every.smallest_detectable):
            assert np.isnan(undefined).all()


@pytest.mark.parametrize(
    ("function", "data", "settings", "said"),
    [
        (compare_paired, ([0.1], [0.1, 0.2]), {}, "a has 1 values, b has 2"),
        (compare_paired, ([0.1, 0.2], [0.1, float("nan")]), {}, r"b\[1\]: is nan"),
        (compare_matrix, ([[0.1, 0.2], [float("nan"), 0.1]],), {}, r"values\[1, 0\]: is nan"),
        (compare_matrix, ([0.1, 0.2],), {}, "shape"),
        (compare_matrix, ([[0.1, 0.2]],), {"n_resamples": 0}, "n_resamples"),
        (compare_matrix, ([[0.1, 0.2]],), {"clusters": ["a"]}, "Give 2 labels"),
    ],
)
def test_what_does_not_fit_is_refused(
    function: Any, data: tuple[Any, ...], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingError, match=said):
        function(*data, generator(), **settings)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=8))
def test_turned_round_it_says_the_same(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    one, other = compare_paired(a, b, generator(), 50), compare_paired(b, a, generator(), 50)
    assert one.p_value == other.p_value
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.mean_difference == pytest.approx(-(other.mean_difference or 0.0))


def test_every_pair_of_a_matrix_says_what_the_pair_says() -> None:
    values = recalls(4, 150)
    every = compare_matrix(values, generator(), 20_000)
    for a, b in itertools.combinations(range(4), 2):
        pair = compare_paired(values[a], values[b], generator(1), 20_000)
        assert pair.ci95 is not None
        assert pair.p_value is not None
        assert every.difference[a, b] == pytest.approx(pair.mean_difference)
        # Simulated both; a quantile's error is some 2% of the interval's width at 20,000 resamples.
        width = pair.ci95[1] - pair.ci95[0]
        assert [every.low[a, b], every.high[a, b]] == pytest.approx(pair.ci95, abs=0.04 * width)
        spread = (pair.p_value * (1 - pair.p_value) / 10_000) ** 0.5
        assert every.p_value[a, b] == pytest.approx(pair.p_value, abs=4 * spread + 1e-4)
        assert (every.wins[a, b], every.ties[a, b], every.wins[b, a]) == (pair.wins, pair.ties, pair.losses)
        assert (every.low[b, a], every.high[b, a]) == (-every.high[a, b], -every.low[a, b])
        # d_z is the t statistic over sqrt(n); one standard error of the difference is sd / sqrt(n).
        t = scipy_stats.ttest_rel(values[a], values[b]).statistic
        assert every.effect[a, b] == pytest.approx(t / 150**0.5)
        error = scipy_stats.sem(values[a] - values[b])
        assert every.smallest_detectable[a, b] == pytest.approx(2.801585 * error, rel=1e-6)


def test_the_power_is_what_it_says() -> None:
    # A t-test of n = 96 at 5%: with the true difference at the smallest detectable, its power by the
    # noncentral t distribution is 80% but for the normal quantiles (a little less, t being wider).
    differences = generator(3).normal(0, 0.3, size=96)
    size = compare_matrix([differences, np.zeros(96)], generator(), 10).smallest_detectable[0, 1]
    noncentrality = size / (differences.std(ddof=1) / 96**0.5)
    limit = scipy_stats.t.ppf(0.975, 95)
    power = scipy_stats.nct.sf(limit, 95, noncentrality) + scipy_stats.nct.cdf(-limit, 95, noncentrality)
    assert power == pytest.approx(0.8, abs=0.01)


class TestClusters:
    """Instances of one paper are drawn, and change sign, together."""

    def test_repeating_every_instance_teaches_nothing(self) -> None:
        # Every instance twice, as a cluster: the same interval and p-value as once, not narrower ones.
        values = recalls(2, 100)
        once, papers = compare_matrix(values, generator(), 20_000), np.repeat(range(100), 2)
        twice = compare_matrix(np.repeat(values, 2, axis=1), generator(), 20_000, clusters=papers)
        assert twice.n_clusters == 100
        width = once.high[0, 1] - once.low[0, 1]
        assert twice.low[0, 1] == pytest.approx(once.low[0, 1], abs=0.04 * width)
        assert twice.p_value[0, 1] == pytest.approx(once.p_value[0, 1], rel=0.3)
        assert twice.smallest_detectable[0, 1] == pytest.approx(once.smallest_detectable[0, 1])

    def test_two_papers_by_hand(self) -> None:
        # Papers {0, 0, 0} and {1}: drawn twice a, once each, twice b with probability 1/4, 1/2, 1/4: means
        # 0, 1/4, 1. Two papers change sign in 4 ways: sums 1, 1, -1, -1 of which all are as far as 1.
        values, papers = [0.0, 0.0, 0.0, 1.0], ["a", "a", "a", "b"]
        pair = compare_paired(values, [0.0] * 4, generator(), clusters=papers)
        assert (pair.p_value, pair.mean_difference, pair.ci95) == (1.0, 0.25, (0.0, 1.0))

    def test_smallest_detectable_by_hand(self) -> None:
        # Pairs that agree: (1, 1), (-1, -1), (1, 1), (-1, -1). Residual sums 2, -2, 2, -2, squares 16, times
        # 4 / 3; SE = sqrt(64 / 3) / 8 = 0.577350: eight instances in four papers tell as much as four.
        def detectable(values: list[int], papers: str) -> float:
            rows = [values, [0] * len(values)]
            return float(compare_matrix(rows, generator(), 10, list(papers)).smallest_detectable[0, 1])

        assert detectable([1, 1, -1, -1, 1, 1, -1, -1], "aabbccdd") == pytest.approx(1.617495, abs=1e-5)
        assert detectable([1, -1, 1, -1], "abcd") == pytest.approx(1.617495, abs=1e-5)
        assert (
            detectable([1, -1, 1, -1], "aabb") == 0.0
        )  # pairs that cancel out leave nothing to be unsure of


# Of 1,000 seeded simulations at n = 96, 93 to 97% of the 95% intervals hold the truth: a count of 950 has a
# standard deviation of 6.9, so the limits are nearly three of them away.


def share_held(
    values: np.ndarray,
    rng: np.random.Generator,
    truth: float,
    n: int = 2_000,
    papers: np.ndarray | None = None,
) -> float:
    sums, sizes = cluster_sums(values, cluster_numbers(papers, values.shape[1]))
    low, high = np.quantile(resampled_matrix(sums, sizes, rng, n), [0.025, 0.975], axis=0)
    return float(((low <= truth) & (truth <= high)).mean())


def test_intervals_of_paired_differences_hold_the_truth() -> None:
    rng = np.random.default_rng(2025)
    chance = rng.beta(1, 2, size=(1000, 96))  # the two share what makes an instance hard
    a = rng.binomial(8, np.minimum(1.0, 0.5 * chance + 0.3)) / 8
    b = rng.binomial(8, 0.5 * chance + 0.2) / 8
    assert 0.93 <= share_held(a - b, rng, 0.1) <= 0.97


def test_intervals_of_one_row_hold_the_truth() -> None:
    rng = np.random.default_rng(2026)
    samples = rng.beta(2, 3, size=(1000, 96))
    low, high = np.array([bootstrap_interval(sample, rng, 600) for sample in samples], dtype=float).T
    assert 0.93 <= ((low <= 0.4) & (high >= 0.4)).mean() <= 0.97


def test_intervals_over_papers_hold_the_truth() -> None:
    # 96 instances in 48 papers that share most of their difficulty, where the plain bootstrap is far
    # too sure: it holds the truth in some 83%.
    rng = np.random.default_rng(2027)
    papers = np.repeat(np.arange(48), 2)
    values = rng.normal(size=(1000, 48))[:, papers] + 0.1 * rng.normal(size=(1000, 96))
    assert 0.93 <= share_held(values, rng, 0.0, papers=papers) <= 0.97
    assert share_held(values, rng, 0.0, 500) < 0.88


def test_memory_is_bounded() -> None:
    values = recalls(5, 20_000)
    tracemalloc.start()
    compare_matrix(values, generator(), 300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64_000_000  # all weights at once would be 300 * 20,000 * 8 bytes = 48 MB, for 10,000 1.6 GB
