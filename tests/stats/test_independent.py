"""Two independent groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import compare_independent


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_by_hand() -> None:
    # a = {0, 1}: means 0, 1/2, 1 with 1/4, 1/2, 1/4. b = {0, 0}: mean 0. So the difference is that of a.
    compared = compare_independent([0.0, 1.0], [0.0, 0.0], draws())
    assert (compared.n_a, compared.n_b) == (2, 2)
    assert (compared.mean_a, compared.mean_b, compared.mean_difference) == (0.5, 0.0, 0.5)
    assert compared.ci95 == (0.0, 1.0)
    assert compare_independent([0.0, 1.0], [0.0, 0.0], draws(), level=0.4).ci95 == (0.5, 0.5)


def test_it_agrees_with_scipy() -> None:
    a, b = draws(1).random(40), draws(2).random(25) ** 2
    ours = compare_independent(a, b, draws(3))
    theirs = bootstrap(
        (a, b),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        method="percentile",
        n_resamples=9_999,
        rng=draws(4),
        vectorized=True,
    ).confidence_interval
    assert ours.ci95 == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_the_interval_holds_the_truth() -> None:
    # 400 seeded pairs of groups of 60 and 40 with a true difference of 0.1. At 95% the binomial's own
    # spread is sqrt(.95 * .05 / 400) = 1.1 points.
    held = 0
    for seed in range(400):
        rng = draws(seed)
        a, b = rng.beta(3, 2, size=60), rng.beta(2, 2, size=40)  # means 0.6 and 0.5
        low, high = compare_independent(a, b, rng, n_resamples=1_000).ci95 or (0.0, 0.0)
        held += low <= 0.1 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_whole_clusters_are_drawn() -> None:
    # a has two papers of three equal instances: resamples have the means 0, 1/2 and 1, never 1/6.
    compared = compare_independent(
        [0.0] * 3 + [1.0] * 3,
        [0.0, 0.0],
        draws(),
        level=0.4,
        clusters_a=["p"] * 3 + ["q"] * 3,
        clusters_b=["r", "s"],
    )
    assert compared.ci95 == (0.5, 0.5)
    assert compared.mean_difference == 0.5


@pytest.mark.parametrize(("a", "b"), [([], [1.0, 2.0]), ([1.0], [1.0, 2.0])])
def test_too_few_have_no_interval(a: list[float], b: list[float]) -> None:
    compared = compare_independent(a, b, draws())
    assert compared.ci95 is None
    assert (compared.mean_difference is None) == (not a)


def test_one_cluster_has_no_interval() -> None:
    assert compare_independent([0.0, 1.0], [0.0, 1.0], draws(), clusters_a=["p", "p"]).ci95 is None


def test_what_it_refuses() -> None:
    with pytest.raises(SettingError, match="level"):
        compare_independent([0.0], [1.0], draws(), level=0.0)
    with pytest.raises(SettingError, match=r"b\[1\]"):
        compare_independent([0.0], [1.0, float("nan")], draws())
    with pytest.raises(SettingError, match="clusters"):
        compare_independent([0.0], [1.0], draws(), clusters_a=["p", "q"])
