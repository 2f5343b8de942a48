"""Standard error, bootstrap intervals of means, differences and ratios, and the draws behind them."""

import ast
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import (
    bootstrap_interval,
    difference_interval,
    ratio_intervals,
    resampled_groups,
    standard_error,
)
from evidencebench_core.stats.resampling import product, resampled_means

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_standard_error_by_hand() -> None:
    # mean 0.5, deviations -0.5 0 0 0.5, variance 0.5 / 4 = 0.125; sqrt(0.125) / sqrt(4) = sqrt(0.03125)
    assert standard_error([0.0, 0.5, 0.5, 1.0]) == pytest.approx(0.03125**0.5, abs=1e-15)
    for values in ([], [0.4]):  # fewer than two have no spread
        assert standard_error(values) is bootstrap_interval(values, generator()) is None
    for n in (5, 500):
        assert (standard_error([0.25] * n), bootstrap_interval([0.25] * n, generator())) == (
            0.0,
            (0.25, 0.25),
        )


@pytest.mark.parametrize(
    ("values", "papers", "wide", "narrow"),
    [
        # The mean of two draws from {0, 1} is 0, 1/2, 1 with probability 1/4, 1/2, 1/4.
        ([0.0, 1.0], None, (0.0, 1.0), (0.5, 0.5)),
        # Papers {0, 0, 0} and {1}: drawn twice a, once each, twice b with the same: 0, 1/4, 1.
        ([0.0, 0.0, 0.0, 1.0], list("aaab"), (0.0, 1.0), (0.25, 0.25)),
        ([0.1, 0.9], ["a", "a"], None, None),
    ],
)
def test_two_values_and_two_papers_by_hand(
    values: list[float], papers: list[str] | None, wide: object, narrow: object
) -> None:
    assert bootstrap_interval(values, generator(), 400, clusters=papers) == wide
    assert bootstrap_interval(values, generator(), 400, level=0.40, clusters=papers) == narrow


NAN = float("nan")


@pytest.mark.parametrize(
    ("function", "data", "settings", "said"),
    [
        (bootstrap_interval, ([0.1, NAN],), {}, r"values\[1\]"),
        (bootstrap_interval, ([0.1, float("inf")],), {}, r"values\[1\]"),
        (bootstrap_interval, ([0.0, 1.0],), {"level": 95}, "level: is 95"),
        (bootstrap_interval, ([0.0, 1.0],), {"n_resamples": 0}, "n_resamples: is 0"),
        (bootstrap_interval, ([[0.0, 1.0]],), {}, "shape"),
        (difference_interval, ([0.0], [1.0]), {"level": 0.0}, "level"),
        (difference_interval, ([0.0], [1.0, NAN]), {}, r"b\[1\]"),
        (difference_interval, ([0.0], [1.0]), {"clusters_a": ["p", "q"]}, "clusters"),
        (ratio_intervals, ([1.0], [1.0]), {}, "shape"),
        (ratio_intervals, ([[1.0, 2.0]], [[1.0, 2.0, 3.0]]), {}, "shape"),
        (ratio_intervals, ([[NAN]], [[1.0]]), {}, r"numerators\[0, 0\]: is nan"),
        (ratio_intervals, ([[1.0]], [[1.0]]), {"level": 1.0}, "level"),
        (ratio_intervals, ([[1.0], [0.0]], [[1.0], [1.0]]), {"n_resamples": 0}, "n_resamples"),
    ],
)
def test_what_is_refused(function: Any, data: tuple[Any, ...], settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        function(*data, generator(), **settings)


@given(SHARES)
def test_the_interval_lies_within_the_values(values: list[float]) -> None:
    interval = bootstrap_interval(values, generator(), 200)
    assert interval is not None
    assert min(values) - 1e-12 <= interval[0] <= interval[1] <= max(values) + 1e-12


def test_drawing_by_value_has_the_distribution_of_drawing_instances() -> None:
    # 3 different values in 600 go by value. The standard error of a mean of 600 is exact: sd / sqrt(600).
    values = np.repeat([0.0, 0.5, 1.0], [300, 100, 200])
    means = resampled_means(values, None, generator(), 20_000)
    assert means.mean() == pytest.approx(values.mean(), abs=4 * values.std() / (600 * 20_000) ** 0.5)
    assert means.std() == pytest.approx(values.std() / 600**0.5, rel=0.03)


def test_difference_of_two_groups_by_hand() -> None:
    # a = {0, 1}: means 0, 1/2, 1 with 1/4, 1/2, 1/4. b = {0, 0}: mean 0. So the difference is that of a.
    a, b = [0.0, 1.0], [0.0, 0.0]
    assert difference_interval(a, b, generator()) == (0.0, 1.0)
    assert difference_interval(a, b, generator(), level=0.4) == (0.5, 0.5)
    # a has two papers of three equal instances: resamples have the means 0, 1/2 and 1, never 1/6.
    papers = {"clusters_a": list("pppqqq"), "clusters_b": ["r", "s"]}
    assert difference_interval(np.repeat(a, 3), b, generator(), level=0.4, **papers) == (0.5, 0.5)
    assert difference_interval([], [1.0, 2.0], generator()) is None
    assert difference_interval([1.0], [1.0, 2.0], generator()) is None
    assert difference_interval(a, a, generator(), clusters_a=["p", "p"]) is None


def test_difference_of_two_groups_agrees_with_scipy() -> None:
    a, b = generator(1).random(40), generator(2).random(25) ** 2
    theirs = bootstrap(
        (a, b), lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis), method="percentile",
        n_resamples=9_999, rng=generator(4), vectorized=True,
    ).confidence_interval  # fmt: skip
    assert difference_interval(a, b, generator(3)) == pytest.approx((theirs.low, theirs.high), abs=0.01)


class TestRatios:
    """Cluster bootstrap of ratios of sums."""

    def test_two_clusters_by_hand(self) -> None:
        # Clusters 1/1 and 0/3. Resamples (1/4 AA, 1/2 AB, 1/4 BB) have the ratios 2/2 = 1, 1/4 and 0/6 = 0:
        # every 95% percentile interval runs from 0 to 1, and the 40% one (30th to 70th) is 1/4 only.
        top, bottom = [[1.0], [0.0]], [[1.0], [3.0]]
        assert ratio_intervals(top, bottom, generator()).tolist() == [[0.0, 1.0]]
        assert ratio_intervals(top, bottom, generator(), level=0.4).tolist() == [[0.25, 0.25]]

    def test_ratios_share_their_draws(self) -> None:
        # The second ratio is 1 minus the first in every resample, so its interval is the mirror image.
        hits = generator(1).integers(0, 4, size=(30, 1)).astype(float)
        both = ratio_intervals(np.hstack([hits, 4 - hits]), np.full((30, 2), 4.0), generator())
        assert both[1] == pytest.approx(1 - both[0][::-1])
        shared = ratio_intervals(np.hstack([hits, 4 - hits]), np.full((30, 1), 4.0), generator())
        assert shared == pytest.approx(both)

    def test_differences_of_pooled_ratios(self) -> None:
        # 1/2 and 1/2 pooled are 1/2 + 1/4 over clusters of equal sizes; against itself there is no difference.
        top, bottom = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[2.0, 2.0, 4.0]] * 2)
        bounds = ratio_intervals(top, bottom, generator(), differences=[([0, 1], [2]), ([0], [0]), ([], [2])])
        assert bounds[3].tolist() == [0.25, 0.5]  # both the second: 1/4 - 0; both the first: 1/2 - 0
        assert bounds[4].tolist() == [0.0, 0.0]
        assert np.isnan(bounds[5]).all()  # nothing on one side
        assert bounds[:3].tolist() == ratio_intervals(top, bottom, generator()).tolist()

    def test_clumps_widen_the_interval(self) -> None:
        # Ten papers of ten aspects that succeed or fail together are ten observations, not a hundred:
        # sd of the mean sqrt(.25 / 10) = 0.158 against sqrt(.25 / 100) = 0.05, some three times as wide.
        clumped = ratio_intervals([[10.0], [0.0]] * 5, np.full((10, 1), 10.0), generator())[0]
        single = ratio_intervals([[1.0], [0.0]] * 50, np.ones((100, 1)), generator())[0]
        assert 2.5 < (clumped[1] - clumped[0]) / (single[1] - single[0]) < 4.0

    def test_the_interval_holds_the_truth(self) -> None:
        # 400 seeded sets of 96 papers with 4 to 12 aspects each, found with a probability of the paper's own,
        # Beta(2, 3), so 0.4 on average. The binomial's own spread at 95% is sqrt(.95 * .05 / 400) = 1.1 points.
        held = 0
        for seed in range(400):
            rng = generator(seed)
            aspects = rng.integers(4, 13, size=(96, 1))
            hits = rng.binomial(aspects, rng.beta(2, 3, size=(96, 1)))
            ((low, high),) = ratio_intervals(hits, aspects, rng, n_resamples=1_000)
            held += low <= 0.4 <= high
        assert 0.92 <= held / 400 <= 0.98

    def test_undefined_is_nan(self) -> None:
        top = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        bottom = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
        bounds = ratio_intervals(top, bottom, generator())
        assert np.isnan(bounds[1]).all()  # nothing to divide by
        assert bounds[2].tolist() == [0.5, 0.5]  # a resample of the second cluster alone counts for nothing
        one = ratio_intervals([[1.0]], [[2.0]], generator())
        assert np.isnan(one).all()  # says nothing of its spread


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


def test_ratios_of_counts_are_those_of_any_numbers() -> None:
    """Counts are added up in single precision, halves of them in double: neither rounds."""
    top, bottom = generator(2).integers(0, 40, (2, 9, 4)).astype(float)
    counts, halves = (ratio_intervals(top * by, bottom * by, generator(3), 200) for by in (1.0, 0.5))
    assert np.array_equal(counts, halves)


@pytest.mark.parametrize("shape", [(7, 3, 2), (130, 1_000, 20), (5, 600, 100), (3, 0, 2)])
def test_the_product_in_blocks_is_the_product(shape: tuple[int, int, int]) -> None:
    rng = generator(1)
    weights, columns = rng.random(shape[:2]), rng.random(shape[1:])
    assert product(weights, columns) == pytest.approx(weights @ columns)


PRINTED = {  # what the paper prints of the authors' logs, where rounding tells ddof 0 from ddof 1
    "GritLM__-O__opt_k__filter": 1.2,  # 1.2491 against 1.2512 with ddof 1
    "GritLM__+O__opt_k__filter": 1.3,  # 1.3483 against 1.3506
    "GritLM__+O__result__5__filter": 2.2,  # 2.2482 against 2.2521
}


@pytest.mark.realdata
def test_the_paper_has_ddof_0(train_path: Path) -> None:
    csv.field_size_limit(10_000_000)
    with train_path.with_name("official_logs.csv").open(newline="", encoding="utf-8") as file:
        rows = {
            row["Experiment Name"]: row["Coverage List"] or row["Recall List"] for row in csv.DictReader(file)
        }
    for experiment, printed in PRINTED.items():
        values = 100 * np.array(ast.literal_eval(rows[experiment]))
        assert round(standard_error(values) or 0.0, 1) == printed
        assert round(float(values.std(ddof=1) / len(values) ** 0.5), 1) != printed
