"""Paired comparison: by hand, against scipy, with papers that hold several instances; Holm's correction."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from evidencebench_core.stats import Estimate, holm, paired, pairs

SHARES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])
PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=8)


def test_by_hand() -> None:
    # Differences 0.5, 0.25, 0: mean 0.25. Of the 4 flips of the two that differ, sums 0.75, 0.25, -0.25, -0.75:
    # two are as far from 0 as 0.75, so p = 2/4.
    pair = paired([1.0, 0.5, 0.3], [0.5, 0.25, 0.3])
    assert (pair.n, pair.wins, pair.ties, pair.losses, pair.p) == (3, 2, 1, 0, 0.5)
    assert (pair.mean_a, pair.mean_b, pair.difference.value) == pytest.approx((0.6, 0.35, 0.25))
    # Standard deviation 0.25, so 0.25 / sqrt(3) * 4.3027 = 0.6210 to both sides.
    assert pair.as_dict()["low"] == pair.difference.low == pytest.approx(0.25 - 0.6210, abs=5e-5)


def test_two_papers_by_hand() -> None:
    # Papers {0, 0, 0} and {1} say nothing of the difference: any may be. They change sign in 4 ways: sums 1, 1, -1, -1,
    # of which all are as far as 1.
    pair = paired([0.0, 0.0, 0.0, 1.0], [0.0] * 4, list("aaab"))
    assert (pair.p, pair.difference) == (1.0, Estimate(0.25, -1.0, 1.0, 4))


def test_what_cannot_be_judged() -> None:
    pair = paired([0.1 + 0.2, 0.5], [0.3, 0.5])  # alike: rounding is no win
    assert (pair.difference, pair.p, pair.ties) == (Estimate(0.0, None, None, 2), 1.0, 2)
    assert paired([], []).difference == Estimate(None, None, None, 0)
    one_paper = paired([0.1, 0.9], [0.0, 0.0], ["a", "a"])
    assert (one_paper.difference.low, one_paper.p, one_paper.wins) == (None, None, 2)


@given(PAIRS)
def test_few_instances_have_exact_p_values(shares: list[tuple[float, float]]) -> None:
    a, b = np.array(shares).T
    flips = np.array(list(product([1, -1], repeat=len(a))))
    extreme = np.abs(flips @ (a - b)) >= abs((a - b).sum()) - 1e-9
    forward, backward = paired(a, b), paired(b, a)
    assert forward.p == pytest.approx(extreme.mean())
    assert forward.p == backward.p
    assert (forward.wins, forward.losses) == (backward.losses, backward.wins)


def test_many_pairs_agree_with_scipy() -> None:
    rng = np.random.default_rng(11)
    b = rng.integers(0, 1_000, size=200) / 1_000
    a = np.clip(b + rng.integers(-333, 500, size=200) / 1_000 * (rng.random(200) < 0.3), 0, 1)
    ours = paired(a, b).p
    theirs = permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=9_999, rng=np.random.default_rng(12),
    ).pvalue  # fmt: skip
    assert 0.001 < theirs < 0.9  # a case that tells something
    # Both are simulated: the standard deviation of their difference is sqrt(p(1-p)(1/10000 + 1/9999)).
    assert ours * 10_001 == pytest.approx(round(ours * 10_001))  # type: ignore[arg-type, operator]
    assert ours == pytest.approx(theirs, abs=4 * (theirs * (1 - theirs) * 2e-4) ** 0.5)


def test_many_papers_have_the_p_value_of_the_normal_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.random.default_rng(5).normal(0.1, 1, size=600)
    normal = paired(a, np.zeros(600)).p
    assert normal == pytest.approx(2 * norm.sf(a.sum() / (a**2).sum() ** 0.5))
    monkeypatch.setattr(pairs, "LARGE", 600)
    assert 0.005 < normal < 0.5  # type: ignore[operator]
    assert normal == pytest.approx(paired(a, np.zeros(600)).p, abs=0.015)


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.6: times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.6.
    assert holm([0.03, 0.01, 0.6, 0.02]) == pytest.approx((0.06, 0.04, 0.6, 0.06))
    # It never falls as p grows: 3 * 0.02 = 0.06, then 2 * 0.025 = 0.05, raised to 0.06. And it is at most 1.
    assert holm([0.02, 0.025, 0.9]) == pytest.approx((0.06, 0.06, 0.9))
    assert holm([0.6, 1.0, 0.0]) == (1.0, 1.0, 0.0)
    # A test that could not be made does not count.
    assert holm([None, 0.02, None, 0.03]) == (None, pytest.approx(0.04), None, pytest.approx(0.04))
    assert holm([]) == ()
