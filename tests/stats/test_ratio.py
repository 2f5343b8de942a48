"""Cluster bootstrap of ratios of sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import ratio_intervals


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_two_clusters_by_hand() -> None:
    # Clusters 1/1 and 0/3. Resamples (1/4 AA, 1/2 AB, 1/4 BB) have the ratios 2/2 = 1, 1/4 and 0/6 = 0:
    # every 95% percentile interval runs from 0 to 1, and the 40% one (30th to 70th) is 1/4 only.
    top, bottom = [[1.0], [0.0]], [[1.0], [3.0]]
    assert ratio_intervals(top, bottom, draws()).tolist() == [[0.0, 1.0]]
    assert ratio_intervals(top, bottom, draws(), level=0.4).tolist() == [[0.25, 0.25]]


def test_ratios_share_their_draws() -> None:
    # The second ratio is 1 minus the first in every resample, so its interval is the mirror image.
    hits = draws(1).integers(0, 4, size=(30, 1)).astype(float)
    both = ratio_intervals(np.hstack([hits, 4 - hits]), np.full((30, 2), 4.0), draws())
    assert both[1] == pytest.approx(1 - both[0][::-1])


def test_it_agrees_with_scipys_bootstrap_of_the_mean() -> None:
    values = draws(2).random(60)
    ours = ratio_intervals(values[:, None], np.ones((60, 1)), draws(3))[0]
    theirs = bootstrap(
        (values,), np.mean, method="percentile", n_resamples=9_999, rng=draws(4)
    ).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.01)


def test_clumps_widen_the_interval() -> None:
    # Ten papers of ten aspects that succeed or fail together are ten observations, not a hundred:
    # sd of the mean sqrt(.25 / 10) = 0.158 against sqrt(.25 / 100) = 0.05, some three times as wide.
    clumped = ratio_intervals([[10.0], [0.0]] * 5, np.full((10, 1), 10.0), draws())[0]
    single = ratio_intervals([[1.0], [0.0]] * 50, np.ones((100, 1)), draws())[0]
    assert 2.5 < (clumped[1] - clumped[0]) / (single[1] - single[0]) < 4.0


def test_the_interval_holds_the_truth() -> None:
    # 400 seeded sets of 96 papers with 4 to 12 aspects each, found with a probability of the paper's own,
    # Beta(2, 3), so 0.4 on average. The binomial's own spread at 95% is sqrt(.95 * .05 / 400) = 1.1 points.
    held = 0
    for seed in range(400):
        rng = draws(seed)
        aspects = rng.integers(4, 13, size=(96, 1))
        found = rng.binomial(aspects, rng.beta(2, 3, size=(96, 1)))
        ((low, high),) = ratio_intervals(found, aspects, rng, n_resamples=1_000)
        held += low <= 0.4 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_undefined_is_nan() -> None:
    top = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    bottom = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    bounds = ratio_intervals(top, bottom, draws())
    assert np.isnan(bounds[1]).all()  # nothing to divide by
    assert bounds[2].tolist() == [0.5, 0.5]  # a resample of the second cluster alone counts for nothing
    assert np.isnan(
        ratio_intervals([[1.0]], [[2.0]], draws())
    ).all()  # one cluster says nothing of its spread


def test_one_denominator_for_all_ratios() -> None:
    top = draws(5).integers(0, 3, size=(20, 4)).astype(float)
    shared = ratio_intervals(top, np.full((20, 1), 3.0), draws())
    assert shared == pytest.approx(ratio_intervals(top, np.full((20, 4), 3.0), draws()))


@pytest.mark.parametrize(
    ("top", "bottom", "settings", "said"),
    [
        ([1.0], [1.0], {}, "shape"),
        ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], {}, "shape"),
        ([[float("nan")]], [[1.0]], {}, "finite"),
        ([[1.0]], [[1.0]], {"level": 1.0}, "level"),
        ([[1.0], [0.0]], [[1.0], [1.0]], {"n_resamples": 0}, "n_resamples"),
    ],
)
def test_what_it_refuses(top: list, bottom: list, settings: dict, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(SettingError, match=said):
        ratio_intervals(top, bottom, draws(), **settings)
