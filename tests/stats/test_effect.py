"""Effect size and smallest detectable difference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import effect_size, smallest_detectable


def test_effect_size_by_hand() -> None:
    # mean 0.25; deviations -0.25, 0.25, 0, 0 ... of 0, 0.5, 0.25, 0.25: variance (2 * 0.0625) / 3
    assert effect_size([0.0, 0.5, 0.25, 0.25]) == pytest.approx(0.25 / (0.125 / 3) ** 0.5)


def test_effect_size_is_the_t_statistic_over_the_root_of_n() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random(50), rng.random(50)
    t = scipy_stats.ttest_rel(a, b).statistic
    assert effect_size(a - b) == pytest.approx(t / 50**0.5)


@pytest.mark.parametrize("differences", [[], [0.4], [0.25, 0.25, 0.25]])
def test_effect_size_needs_spread(differences: list[float]) -> None:
    assert effect_size(differences) is None


def test_smallest_detectable_by_hand() -> None:
    # z(0.975) = 1.959964, z(0.8) = 0.841621, together 2.801585. Differences 1, -1, 1, -1: mean 0,
    # sd = sqrt(4 / 3), SE = sqrt(4 / 3) / 2 = 0.577350.
    assert smallest_detectable([1, -1, 1, -1]) == pytest.approx(2.801585 * 0.577350, abs=1e-5)


def test_clusters_count_as_one_draw_each() -> None:
    # Pairs that agree: (1, 1), (-1, -1), (1, 1), (-1, -1). Residual sums 2, -2, 2, -2, squares 16, times
    # 4 / 3; SE = sqrt(64 / 3) / 8 = 0.577350: eight instances in four papers tell as much as four.
    values, papers = [1, 1, -1, -1, 1, 1, -1, -1], list("aabbccdd")
    assert smallest_detectable(values, clusters=papers) == pytest.approx(2.801585 * 0.577350, abs=1e-5)
    # Pairs that cancel out leave nothing to be unsure of.
    assert smallest_detectable([1, -1, 1, -1], clusters=list("aabb")) == 0.0


def test_each_alone_is_no_cluster() -> None:
    values = np.random.default_rng(2).random(30)
    assert smallest_detectable(values, clusters=np.arange(30)) == smallest_detectable(values)


def test_the_power_is_what_it_says() -> None:
    # A t-test of n = 96 at 5%: with the true difference at the smallest detectable, its power by the
    # noncentral t distribution is 80% but for the normal quantiles (a little less, t being wider).
    differences = np.random.default_rng(3).normal(0, 0.3, size=96)
    size = smallest_detectable(differences)
    assert size is not None
    noncentrality = size / (differences.std(ddof=1) / 96**0.5)
    limit = scipy_stats.t.ppf(0.975, 95)
    power = scipy_stats.nct.sf(limit, 95, noncentrality) + scipy_stats.nct.cdf(-limit, 95, noncentrality)
    assert power == pytest.approx(0.8, abs=0.01)


def test_fewer_than_two_clusters_detect_nothing() -> None:
    assert smallest_detectable([]) is None
    assert smallest_detectable([0.5]) is None
    assert smallest_detectable([0.5, 0.1], clusters=["a", "a"]) is None


@pytest.mark.parametrize("setting", [{"alpha": 0.0}, {"power": 1.0}, {"clusters": ["a"]}])
def test_settings_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        smallest_detectable([0.5, 0.1], **setting)  # type: ignore[arg-type]
