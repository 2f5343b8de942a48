"""Sign flips of one pair and of all pairs."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from evidencebench_core.stats import compare_matrix, compare_paired

SHARES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def enumerated_p_value(a: np.ndarray, b: np.ndarray) -> float:
    """The share of all sign flips whose mean is no nearer to 0 than the one observed."""
    flips = np.array(list(product([1, -1], repeat=len(a))))
    return float((np.abs(flips @ (a - b)) >= abs((a - b).sum()) - 1e-9).mean())


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=2, max_size=8))
def test_few_instances_have_exact_p_values(rows: list[tuple[float, float, float]]) -> None:
    values = np.array(rows).T
    every = compare_matrix(values, generator(), 50)
    for a, b in combinations(range(3), 2):
        exact = pytest.approx(enumerated_p_value(values[a], values[b]))
        assert compare_paired(values[a], values[b], generator(), 50).p_value == exact
        assert every.p_value[a, b] == exact


@pytest.mark.parametrize("n_values", [5, 1_000])  # recurring sizes of difference, and all different
def test_many_pairs_agree_with_scipy(n_values: int) -> None:
    rng = np.random.default_rng(11)
    b = rng.integers(0, n_values, size=200) / n_values
    change = rng.integers(-n_values // 3, n_values // 2, size=200) / n_values
    a = np.clip(b + change * (rng.random(200) < 0.3), 0, 1)
    ours = compare_paired(a, b, generator(), 20_000).p_value
    theirs = permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=9_999, rng=np.random.default_rng(12),
    ).pvalue  # fmt: skip
    assert 0.001 < theirs < 0.9  # a case that tells something
    # Both are simulated: the standard deviation of their difference is sqrt(p(1-p)(1/20000 + 1/9999)).
    assert ours == pytest.approx(theirs, abs=4 * (theirs * (1 - theirs) * 1.5e-4) ** 0.5)


def test_both_ways_of_drawing_flips_agree_with_the_normal_limit() -> None:
    # 640 pairs that differ by 1 in size, 352 wins: the sum is 64, its standard deviation sqrt(640) under
    # the null; z with continuity (sums are even: 63 / 25.298 = 2.490) gives p = 0.01277.
    a = np.repeat([1.0, 0.0], [352, 288])
    assert compare_paired(a, 1 - a, generator(), 40_000).p_value == pytest.approx(0.01277, abs=0.0025)
    # the same, made all different in size by what can hardly matter, so that flips are drawn per pair
    jitter = np.linspace(0, 1e-4, 640)
    assert compare_paired(a + jitter, 1 - a, generator(), 40_000).p_value == pytest.approx(0.0128, abs=0.0035)


def test_under_no_difference_it_rejects_as_often_as_it_should() -> None:
    # 5% of 990 p-values are at most 0.05; pairs share systems, so they vary more than a binomial's sd of 6.9.
    rng = np.random.default_rng(2028)
    p = compare_matrix(rng.normal(size=(45, 96)), rng, 2_000).p_value[np.triu_indices(45, 1)]
    assert 0.02 <= (p <= 0.05).mean() <= 0.08


def test_p_values_may_be_drawn_more_often_than_intervals() -> None:
    values = np.vstack([np.full(60, 0.9), np.full(60, 0.1)])
    assert compare_matrix(values, generator(), 50, n_flips=3_999).p_value[0, 1] == 1 / 4000
    assert compare_matrix(values, generator(), 50).p_value[0, 1] == 1 / 51
