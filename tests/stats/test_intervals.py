"""Estimates and intervals: by hand, against scipy, and how often they hold the truth."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import ttest_1samp

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import (
    Estimate,
    bootstrap,
    interval,
    interval_note,
    intervals,
    quotient,
    ratios,
    standard_error,
)

NAN = float("nan")


def ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return estimate.low, estimate.high


@pytest.mark.parametrize(
    ("estimate", "settings", "text"),
    [
        (Estimate(0.4871, 0.44, 0.529, 96), {}, "48.7% (44.0 to 52.9)"),
        (Estimate(-0.0004, -0.0101, 0.02), {"unit": "", "sign": True}, "+0.0 (-1.0 to +2.0)"),
        (Estimate(0.5), {"scale": 1, "decimals": 2, "unit": ""}, "0.50"),
        (Estimate(None), {}, "–"),
    ],
)
def test_text_of_an_estimate(estimate: Estimate, settings: dict[str, object], text: str) -> None:
    assert estimate.text(**settings) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "papers", "expected"),
    [
        # Standard deviation 0.2, of the mean 0.2 / sqrt(3), times 4.3027, the quantile of 2 degrees: 0.4968. What these
        # are decides how far it can reach: shares, differences of shares, counts.
        ([0.2, 0.4, 0.6], None, (0.0, 0.8968)),
        ([-0.2, 0.0, 0.2], None, (-0.4968, 0.4968)),
        ([4.0, 6.0, 8.0], None, (1.0317, 10.9683)),
        # Four papers of two, with the means 0.2, 0.4, 0.4, 0.6: 0.1633 / sqrt(4) * 3.1824 = 0.2598.
        ([0.1, 0.3, 0.4, 0.4, 0.0, 0.8, 0.6, 0.6], list("aabbccdd"), (0.1402, 0.6598)),
        # Papers {0, 1} and {0, 1} are alike, and so are fifty of 0.1: nothing says how papers differ.
        ([0.0, 1.0, 0.0, 1.0], list("aabb"), (None, None)),
        ([0.1] * 50, None, (None, None)),
        ([0.1, 0.9], ["a", "a"], (None, None)),
        ([0.1], None, (None, None)),
        ([], None, (None, None)),
    ],
)
def test_interval_by_hand(
    values: list[float], papers: list[str] | None, expected: tuple[float | None, float | None]
) -> None:
    estimate = interval(values, papers)
    assert estimate.value == (pytest.approx(sum(values) / len(values)) if values else None)
    assert (ends(estimate), estimate.n) == (pytest.approx(expected, abs=5e-5), len(values))


def test_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).random(60) ** 2
    theirs = scipy_bootstrap(
        (values,), np.mean, method="percentile", n_resamples=9_999, rng=np.random.default_rng(2)
    ).confidence_interval
    assert ends(interval(values)) == pytest.approx((theirs.low, theirs.high), abs=0.01)
    skewed = interval(values**2)  # Student's t would reach as far to both sides
    assert skewed.high - skewed.value > 1.05 * (skewed.value - skewed.low)  # type: ignore[operator]
    few = np.arange(60)[:, None] < 5  # of sixty papers five have any
    assert ratios(values[:, None] * few, few) == [interval(values[:5])]
    student = ttest_1samp(values[:39], 0).confidence_interval()
    assert ends(interval(values[:39])) == pytest.approx((student.low, student.high))


@pytest.mark.parametrize("n_papers", [5, 50])
def test_the_interval_holds_the_truth(n_papers: int) -> None:
    # 400 sets of papers with 4 to 12 aspects each, covered with a probability of the paper's own, Beta(2, 3),
    # 0.4 on average. The binomial's own spread at 95% is sqrt(.95 * .05 / 400) = 1.1 points.
    n_held = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        aspects = rng.integers(4, 13, size=(n_papers, 1))
        hits = rng.binomial(aspects, rng.beta(2, 3, size=(n_papers, 1)))
        (estimate,) = ratios(hits, aspects)
        n_held += estimate.low <= 0.4 <= estimate.high  # type: ignore[operator]
    assert 0.92 <= n_held / 400 <= 0.98


class TestRatios:
    def test_few_clusters_by_hand(self) -> None:
        # 9/20; without one cluster 5/10, 7/16, 6/14: mean 0.45536, squares 0.003029. Standard error
        # sqrt(2/3 * 0.003029) = 0.04494, times 4.3027 = 0.1934.
        (estimate,) = ratios([[4.0], [2.0], [3.0]], [[10.0], [4.0], [6.0]])
        assert (estimate.value, estimate.n) == (0.45, 20)
        assert ends(estimate) == pytest.approx((0.2566, 0.6434), abs=5e-5)

    def test_differences_of_pooled_ratios(self) -> None:
        tops, bottoms = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[2.0, 2.0, 4.0]] * 2)
        pairs: Sequence[tuple[list[int], list[int]]] = [([0, 1], [2]), ([0], [0]), ([], [2])]
        *_, pooled, same, nothing = ratios(tops, bottoms, differences=pairs)
        assert pooled == Estimate(0.375, -1.0, 1.0, 16)  # 1/4 and 1/2 alone: 0.375, give or take 0.125 * 12.7
        assert (same.value, same.low, same.high) == (0.0, None, None)
        assert (nothing.value, nothing.low) == (None, None)
        below_zero = ratios([[-1.0, 1.0], [0.0, 1.0]], np.ones((2, 2)), differences=[([0], [1])])[-1]
        assert below_zero == Estimate(-1.5, -2.0, 1.0, 4)  # -1 to 1 less 0 to 1
        count = ratios([[2.0, 1.0], [0.0, 1.0]], np.ones((2, 2)), differences=[([0], [1])])[-1]
        assert ends(count) == pytest.approx((-1.0, 12.7062), abs=5e-5)  # 0 to any number less 0 to 1

    def test_undefined(self) -> None:
        tops = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        bottoms = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
        assert np.isnan(quotient([1.0, 0.0], [0.0, 0.0])).all()
        _, nothing, rare = ratios(tops, bottoms)
        assert nothing == Estimate(None, None, None, 0)
        assert rare == Estimate(0.5, None, None, 4)  # the second cluster has none of it, the others are alike

    def test_of_many_papers_it_is_that_of_the_bootstrap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(3)
        bottoms = rng.integers(0, 9, size=(900, 2)).astype(float)
        tops = rng.binomial(bottoms.astype(int), [[0.3, 0.01]])
        student = ratios(tops, bottoms, differences=[([0], [1])])
        monkeypatch.setattr(intervals, "LARGE", 900)
        drawn = ratios(tops, bottoms, differences=[([0], [1])])
        assert [estimate.value for estimate in student] == [estimate.value for estimate in drawn]
        for ours, theirs in zip(student, drawn, strict=True):
            assert ends(ours) == pytest.approx(ends(theirs), abs=0.002)


def test_bootstrap_of_a_statistic_by_hand() -> None:
    # The larger of two counts is 3; without one cluster 1, 3, 2: standard error sqrt(2/3 * 2) = 1.1547, times 4.3027.
    few = bootstrap([[2, 0], [0, 1], [1, 0]], lambda sums: sums.max(axis=-1), n=7)
    assert (few.value, few.low, few.high, few.n) == (3.0, 0.0, pytest.approx(7.9683, abs=5e-5), 7)
    # Of fifty (1, 0) and fifty (0, 1) the larger of two counts is 50 at least, and 60 of 100 in 2.8% of the resamples.
    many = bootstrap([[1, 0], [0, 1]] * 50, lambda sums: sums.max(axis=-1))
    assert (many.value, many.low, many.high) == (50.0, 50.0, pytest.approx(60.0, abs=1))
    undefined = bootstrap([[1.0], [0.0]], lambda sums: np.full(len(sums), np.nan))
    assert undefined == Estimate(None, None, None, 2)


def test_what_is_undefined_is_refused() -> None:
    with pytest.raises(SettingError):
        interval([0.1, NAN])


def test_standard_error_by_hand_and_a_note_where_there_are_few_papers() -> None:
    assert "6 papers" in interval_note(6)
    assert not any("little" in interval_note(n) for n in (20, 39, 40, 500, 501))
    # As the paper prints it: mean 0.5, deviations -0.5 0 0 0.5, variance 0.5 / 4 = 0.125; sqrt(0.125) / sqrt(4).
    assert standard_error([0.0, 0.5, 0.5, 1.0]) == pytest.approx(0.03125**0.5, abs=1e-15)
    assert standard_error([0.4]) is None
