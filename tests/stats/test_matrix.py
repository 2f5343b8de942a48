"""All pairs of systems at once, clusters, and whether intervals hold what they promise."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import (
    bootstrap_interval,
    compare_matrix,
    compare_paired,
    effect_size,
    matrix_intervals,
    smallest_detectable,
)
from evidencebench_core.stats.weights import product, resampled_groups

SHARES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def recalls(n_systems: int, n: int, seed: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    aspects = rng.integers(2, 12, size=n)
    return rng.binomial(aspects, np.linspace(0.4, 0.55, n_systems)[:, None]) / aspects


def test_by_hand() -> None:
    # Rows differ by 0.5, 0.25, 0: mean 0.25, wins 2, ties 1. Signs of the two that differ give sums 0.75,
    # 0.25, -0.25, -0.75, two of four as far from 0 as 0.75: p = 0.5. sd = sqrt(0.125 / 2) = 0.25, d_z = 1.
    found = compare_matrix([[1.0, 0.5, 0.3], [0.5, 0.25, 0.3]], generator(), 200)
    assert (found.n, found.n_clusters) == (3, 3)
    assert found.mean == pytest.approx([0.6, 0.35])
    assert found.difference == pytest.approx(np.array([[0, 0.25], [-0.25, 0]]))
    assert (found.wins[0, 1], found.ties[0, 1], found.wins[1, 0]) == (2, 1, 0)
    assert found.p_value[0, 1] == found.p_value[1, 0] == found.p_holm[0, 1] == 0.5
    assert found.effect[0, 1] == pytest.approx(1.0)
    assert found.effect[1, 0] == pytest.approx(-1.0)
    assert found.smallest_detectable[0, 1] == pytest.approx(2.801585 * 0.25 / 3**0.5, abs=1e-5)
    assert np.isnan(np.diag(found.p_value)).all()


def test_every_pair_says_what_the_plain_comparison_says() -> None:
    values = recalls(4, 150)
    found = compare_matrix(values, generator(), 20_000)
    for a, b in itertools.combinations(range(4), 2):
        plain = compare_paired(values[a], values[b], generator(1), 20_000)
        assert plain.ci95 is not None
        assert plain.p_value is not None
        assert found.difference[a, b] == pytest.approx(plain.mean_difference)
        # Simulated both; a quantile's error is some 2% of the interval's width at 20,000 resamples.
        width = plain.ci95[1] - plain.ci95[0]
        assert [found.low[a, b], found.high[a, b]] == pytest.approx(plain.ci95, abs=0.04 * width)
        spread = (plain.p_value * (1 - plain.p_value) / 10_000) ** 0.5
        assert found.p_value[a, b] == pytest.approx(plain.p_value, abs=4 * spread + 1e-4)
        assert (found.wins[a, b], found.ties[a, b], found.wins[b, a]) == (
            plain.wins,
            plain.ties,
            plain.losses,
        )
        assert found.effect[a, b] == pytest.approx(effect_size(values[a] - values[b]))
        assert found.smallest_detectable[a, b] == pytest.approx(smallest_detectable(values[a] - values[b]))
        assert (found.low[b, a], found.high[b, a]) == (-found.high[a, b], -found.low[a, b])


def test_means_agree_with_scipys_bootstrap() -> None:
    values = recalls(2, 80)
    theirs = scipy_stats.bootstrap(
        (values[1],), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(9)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert compare_matrix(values, generator(), 20_000).interval[1] == pytest.approx(theirs, abs=0.04 * width)


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=2, max_size=7))
def test_few_instances_have_exact_p_values(rows: list[tuple[float, float, float]]) -> None:
    values = np.array(rows).T
    found = compare_matrix(values, generator(), 50)
    for a, b in itertools.combinations(range(3), 2):
        assert found.p_value[a, b] == pytest.approx(
            compare_paired(values[a], values[b], generator(), 50).p_value
        )


def test_systems_that_are_alike() -> None:
    row = recalls(1, 60)[0]
    found = compare_matrix([row, row], generator(), 500)
    assert (found.low[0, 1], found.high[0, 1], found.p_value[0, 1]) == (0.0, 0.0, 1.0)
    assert np.isnan(found.effect[0, 1])


@pytest.mark.parametrize("shape", [(3, 0), (3, 1), (1, 5), (0, 0)])
def test_too_little_to_judge(shape: tuple[int, int]) -> None:
    found = compare_matrix(np.full(shape, 0.5), generator(), 50)
    assert found.p_value.shape == (shape[0], shape[0])
    assert np.isnan(found.p_value).all()
    if shape[1] < 2:
        assert np.isnan(found.interval).all()
        assert np.isnan(found.low).all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SettingError, match=r"values\[1, 0\]: is nan"):
        compare_matrix([[0.1, 0.2], [float("nan"), 0.1]], generator())
    with pytest.raises(SettingError, match="shape"):
        compare_matrix([0.1, 0.2], generator())
    with pytest.raises(SettingError, match="level"):
        compare_matrix([[0.1, 0.2]], generator(), level=95)
    with pytest.raises(SettingError, match="n_resamples"):
        compare_matrix([[0.1, 0.2]], generator(), n_resamples=0)
    with pytest.raises(SettingError, match="Give 2 labels"):
        compare_matrix([[0.1, 0.2]], generator(), clusters=["a"])


class TestClusters:
    """Instances of one paper are drawn together."""

    def test_each_alone_is_the_plain_bootstrap(self) -> None:
        values = recalls(2, 40)
        plain = compare_matrix(values, generator(), 400)
        alone = compare_matrix(values, generator(), 400, clusters=[f"paper {i}" for i in range(40)])
        assert np.array_equal(plain.low, alone.low, equal_nan=True)
        assert np.array_equal(plain.p_value, alone.p_value, equal_nan=True)
        row = values[0]
        assert bootstrap_interval(row, generator(), 400) == bootstrap_interval(
            row, generator(), 400, clusters=range(40)
        )

    def test_repeating_every_instance_teaches_nothing(self) -> None:
        # Every instance twice, as a cluster: the same interval and p-value as once, not narrower ones.
        values = recalls(2, 100)
        once = compare_matrix(values, generator(), 20_000)
        twice = compare_matrix(
            np.repeat(values, 2, axis=1), generator(), 20_000, clusters=np.repeat(range(100), 2)
        )
        assert twice.n_clusters == 100
        width = once.high[0, 1] - once.low[0, 1]
        assert twice.low[0, 1] == pytest.approx(once.low[0, 1], abs=0.04 * width)
        assert twice.p_value[0, 1] == pytest.approx(once.p_value[0, 1], rel=0.3)
        assert twice.smallest_detectable[0, 1] == pytest.approx(once.smallest_detectable[0, 1])

    def test_two_papers_by_hand(self) -> None:
        # Papers {0, 0, 0} and {1}: drawn twice a, once each, twice b with probability 1/4, 1/2, 1/4: means
        # 0, 1/4, 1. Two papers change sign in 4 ways: sums 1, 1, -1, -1 of which all are as far as 1.
        values, papers = [0.0, 0.0, 0.0, 1.0], ["a", "a", "a", "b"]
        assert bootstrap_interval(values, generator(), 400, clusters=papers) == (0.0, 1.0)
        assert bootstrap_interval(values, generator(), 400, level=0.4, clusters=papers) == (0.25, 0.25)
        compared = compare_paired(values, [0.0] * 4, generator(), clusters=papers)
        assert compared.p_value == 1.0
        assert compared.mean_difference == 0.25
        assert compared.ci95 == (0.0, 1.0)

    def test_one_paper_has_no_interval(self) -> None:
        assert bootstrap_interval([0.1, 0.9], generator(), clusters=["a", "a"]) is None
        compared = compare_paired([0.1, 0.9], [0.0, 0.0], generator(), clusters=["a", "a"])
        assert (compared.ci95, compared.p_value, compared.wins) == (None, None, 2)

    def test_clustered_p_values_are_those_of_the_plain_comparison(self) -> None:
        values, papers = recalls(3, 120), np.arange(120) // 3
        found = compare_matrix(values, generator(), 20_000, clusters=papers)
        plain = compare_paired(values[0], values[2], generator(1), 20_000, clusters=papers)
        assert plain.p_value is not None
        assert found.p_value[0, 2] == pytest.approx(plain.p_value, abs=0.012)


class TestCoverage:
    """Of 1,000 seeded simulations at n = 96, 93 to 97% of the 95% intervals hold the truth."""

    # A count of 950 has a standard deviation of 6.9: the limits are nearly three of them away.

    @staticmethod
    def held(intervals: np.ndarray, truth: float) -> float:
        return float(((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])).mean())

    def test_means(self) -> None:
        rng = np.random.default_rng(2024)
        aspects = rng.integers(3, 13, size=(1000, 96))
        values = rng.binomial(aspects, rng.beta(1, 2, size=(1000, 96))) / aspects  # mean 1/3, whatever n
        assert 0.93 <= self.held(matrix_intervals(values, rng, 2_000), 1 / 3) <= 0.97

    def test_paired_differences(self) -> None:
        rng = np.random.default_rng(2025)
        chance = rng.beta(1, 2, size=(1000, 96))  # the two share what makes an instance hard
        a = rng.binomial(8, np.minimum(1.0, 0.5 * chance + 0.3)) / 8
        b = rng.binomial(8, 0.5 * chance + 0.2) / 8
        assert 0.93 <= self.held(matrix_intervals(a - b, rng, 2_000), 0.1) <= 0.97

    def test_the_plain_interval(self) -> None:
        rng = np.random.default_rng(2026)
        samples = rng.beta(2, 3, size=(1000, 96))
        intervals = [bootstrap_interval(sample, rng, 600) for sample in samples]
        assert 0.93 <= self.held(np.array(intervals, dtype=float), 0.4) <= 0.97

    def test_clusters(self) -> None:
        # 96 instances in 48 papers that share most of their difficulty, where the plain bootstrap is far
        # too sure: it holds the truth in some 83%.
        rng = np.random.default_rng(2027)
        papers = np.repeat(np.arange(48), 2)
        values = rng.normal(size=(1000, 48))[:, papers] + 0.1 * rng.normal(size=(1000, 96))
        assert 0.93 <= self.held(matrix_intervals(values, rng, 2_000, clusters=papers), 0.0) <= 0.97
        assert self.held(matrix_intervals(values, rng, 500), 0.0) < 0.88

    def test_the_test_rejects_as_often_as_it_should(self) -> None:
        # Under no difference, 5% of 1,000 p-values are at most 0.05; sd 6.9.
        rng = np.random.default_rng(2028)
        values = rng.normal(size=(45, 96))
        p = compare_matrix(values, rng, 2_000).p_value[np.triu_indices(45, 1)]
        assert p.size == 990
        assert 0.02 <= (p <= 0.05).mean() <= 0.08  # pairs share systems, so they vary more


def test_memory_is_bounded() -> None:
    values = recalls(5, 20_000)
    tracemalloc.start()
    try:
        compare_matrix(values, generator(), 300)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64_000_000  # all weights at once would be 300 * 20,000 * 8 bytes = 48 MB, for 10,000 1.6 GB


def test_groups_are_drawn_with_the_whole() -> None:
    # Two papers: {0, 1} and {0.5}; groups: the first two instances, the last, nothing. Drawn twice the first,
    # once each, twice the second: group means 0.5, 0.5, undefined and undefined, 0.5, 0.5.
    groups = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    drawn = resampled_groups(np.array([[0.0, 1.0, 0.5]]), groups, np.array([0, 0, 1]), generator(), 400)
    assert drawn.shape == (400, 3, 1)
    first, second, none = drawn[:, :, 0].T
    assert set(first[~np.isnan(first)]) == set(second[~np.isnan(second)]) == {0.5}
    assert np.isnan(none).all()
    assert not (np.isnan(first) & np.isnan(second)).any()
    assert 0.15 < np.isnan(first).mean() < 0.35  # 1/4


def test_p_values_may_be_drawn_more_often_than_intervals() -> None:
    values = np.vstack([np.full(60, 0.9), np.full(60, 0.1)])
    assert compare_matrix(values, generator(), 50, n_flips=3_999).p_value[0, 1] == 1 / 4000
    assert compare_matrix(values, generator(), 50).p_value[0, 1] == 1 / 51


@pytest.mark.parametrize("shape", [(7, 3, 2), (130, 1_000, 20), (5, 600, 100), (3, 0, 2)])
def test_the_product_in_blocks_is_the_product(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(1)
    weights, columns = rng.random(shape[:2]), rng.random(shape[1:])
    assert product(weights, columns) == pytest.approx(weights @ columns)
