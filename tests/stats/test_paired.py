"""The paired comparison."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import PairedComparison, compare_paired

SHARES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def enumerated_p_value(a: list[float], b: list[float]) -> float:
    """The share of all sign flips whose mean is no nearer to 0 than the one observed."""
    differences = np.array(a) - np.array(b)
    flips = np.array(list(product([1, -1], repeat=len(a))))
    return float((np.abs(flips @ differences) >= abs(differences.sum()) - 1e-9).mean())


def test_by_hand() -> None:
    # Differences 0.5, 0.25, 0: mean 0.25. Of the 4 flips of the two that differ, sums 0.75, 0.25, -0.25,
    # -0.75: two are as far from 0 as 0.75, so p = 2/4.
    comparison = compare_paired([1.0, 0.5, 0.3], [0.5, 0.25, 0.3], generator())
    assert (comparison.n, comparison.wins, comparison.ties, comparison.losses) == (3, 2, 1, 0)
    assert comparison.mean_a == pytest.approx(0.6)
    assert comparison.mean_b == pytest.approx(0.35)
    assert comparison.mean_difference == pytest.approx(0.25)
    assert comparison.p_value == 0.5
    assert comparison.ci95 is not None
    assert comparison.ci95[0] <= 0.25 <= comparison.ci95[1]


def test_without_pairs_nothing_is_defined() -> None:
    assert compare_paired([], [], generator()) == PairedComparison(0, None, None, None, None, None, 0, 0, 0)


def test_one_pair_has_a_difference_but_nothing_to_judge_it_by() -> None:
    comparison = compare_paired([0.75], [0.25], generator())
    assert comparison == PairedComparison(1, 0.75, 0.25, 0.5, None, None, 1, 0, 0)


def test_systems_that_are_alike() -> None:
    comparison = compare_paired([0.5, 0.25], [0.5, 0.25], generator())
    assert (comparison.mean_difference, comparison.ci95, comparison.p_value) == (0.0, (0.0, 0.0), 1.0)


def test_rounding_is_not_a_win() -> None:
    comparison = compare_paired([0.1 + 0.2, 0.5], [0.3, 0.5], generator())
    assert (comparison.wins, comparison.ties, comparison.losses) == (0, 2, 0)
    assert comparison.p_value == 1.0


def test_unequal_lengths_and_undefined_values_are_refused() -> None:
    with pytest.raises(SettingError, match="a has 1 values, b has 2"):
        compare_paired([0.1], [0.1, 0.2], generator())
    with pytest.raises(SettingError, match=r"b\[1\]: is nan"):
        compare_paired([0.1, 0.2], [0.1, float("nan")], generator())


@given(st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=8))
def test_few_pairs_have_the_exact_p_value(pairs: list[tuple[float, float]]) -> None:
    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    assert compare_paired(a, b, generator(), 50).p_value == pytest.approx(enumerated_p_value(a, b))


@given(st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=8))
def test_turned_round_it_says_the_same(pairs: list[tuple[float, float]]) -> None:
    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    one, other = compare_paired(a, b, generator(), 50), compare_paired(b, a, generator(), 50)
    assert one.p_value == other.p_value
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.mean_difference is not None
    assert other.mean_difference is not None
    assert one.mean_difference == pytest.approx(-other.mean_difference)


@pytest.mark.parametrize("n_values", [5, 1_000])  # recurring sizes of difference, and all different
def test_many_pairs_agree_with_scipy(n_values: int) -> None:
    rng = np.random.default_rng(11)
    b = rng.integers(0, n_values, size=200) / n_values
    a = np.clip(
        b + rng.integers(-n_values // 3, n_values // 2, size=200) / n_values * (rng.random(200) < 0.3), 0, 1
    )
    ours = compare_paired(a, b, generator(), 20_000).p_value
    theirs = permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(12),
    ).pvalue
    assert 0.001 < theirs < 0.9  # a case that tells something
    # Both are simulated: the standard deviation of their difference is sqrt(p(1-p)(1/20000 + 1/9999)).
    assert ours == pytest.approx(theirs, abs=4 * (theirs * (1 - theirs) * 1.5e-4) ** 0.5)


def test_a_simulated_p_value_is_never_0() -> None:
    rng = np.random.default_rng(1)
    a = 0.6 + 0.4 * rng.random(100)
    assert compare_paired(a, np.zeros(100), generator(), 999).p_value == 1 / 1000


def test_both_ways_of_drawing_flips_agree_with_the_normal_limit() -> None:
    # 640 pairs that differ by 1 in size, 352 wins: the sum is 64, its standard deviation sqrt(640) under
    # the null; z with continuity (sums are even: 63 / 25.298 = 2.490) gives p = 0.01277.
    a = np.repeat([1.0, 0.0], [352, 288])
    assert compare_paired(a, 1 - a, generator(), 40_000).p_value == pytest.approx(0.01277, abs=0.0025)
    # the same, made all different in size by what can hardly matter, so that flips are drawn per pair
    jitter = np.linspace(0, 1e-4, 640)
    assert compare_paired(a + jitter, 1 - a, generator(), 40_000).p_value == pytest.approx(0.0128, abs=0.0035)
