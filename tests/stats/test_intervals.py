"""Estimates and bootstrap intervals: by hand, against scipy, and how often they hold the truth."""

import ast
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import Estimate, bootstrap, interval, ratios, standard_error
from evidencebench_core.stats.intervals import quotient

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
        # The mean of two draws from {0, 1} is 0, 1/2, 1 with probability 1/4, 1/2, 1/4.
        ([0.0, 1.0], None, (0.0, 1.0)),
        # Papers {0, 1} and {0, 1}: every resample has the mean 1/2.
        ([0.0, 1.0, 0.0, 1.0], list("aabb"), (0.5, 0.5)),
        # Papers {0, 0, 0} and {1}: drawn twice a, once each, twice b with the means 0, 1/4, 1.
        ([0.0, 0.0, 0.0, 1.0], list("aaab"), (0.0, 1.0)),
        ([0.1, 0.9], ["a", "a"], (None, None)),
        ([0.1], None, (None, None)),
        ([], None, (None, None)),
    ],
)
def test_interval_by_hand(
    values: list[float], papers: list[str] | None, expected: tuple[float | None, float | None]
) -> None:
    estimate = interval(values, papers, n_resamples=400)
    assert estimate.value == (pytest.approx(sum(values) / len(values)) if values else None)
    assert (ends(estimate), estimate.n) == (expected, len(values))


def test_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).random(60) ** 2
    theirs = scipy_bootstrap(
        (values,), np.mean, method="percentile", n_resamples=9_999, rng=np.random.default_rng(2)
    ).confidence_interval
    assert ends(interval(values)) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_the_interval_holds_the_truth() -> None:
    # 400 sets of 96 papers with 4 to 12 aspects each, covered with a probability of the paper's own, Beta(2, 3),
    # 0.4 on average. The binomial's own spread at 95% is sqrt(.95 * .05 / 400) = 1.1 points.
    n_held = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        aspects = rng.integers(4, 13, size=(96, 1))
        hits = rng.binomial(aspects, rng.beta(2, 3, size=(96, 1)))
        (estimate,) = ratios(hits, aspects, seed=seed, n_resamples=1_000)
        n_held += estimate.low <= 0.4 <= estimate.high  # type: ignore[operator]
    assert 0.92 <= n_held / 400 <= 0.98


class TestRatios:
    def test_two_clusters_by_hand(self) -> None:
        # Clusters 1/1 and 0/3. Resamples (1/4 AA, 1/2 AB, 1/4 BB) have the ratios 2/2 = 1, 1/4 and 0/6 = 0.
        (estimate,) = ratios([[1.0], [0.0]], [[1.0], [3.0]])
        assert estimate == Estimate(0.25, 0.0, 1.0, 4)

    def test_differences_of_pooled_ratios(self) -> None:
        tops, bottoms = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[2.0, 2.0, 4.0]] * 2)
        pairs: Sequence[tuple[list[int], list[int]]] = [([0, 1], [2]), ([0], [0]), ([], [2])]
        *_, pooled, same, nothing = ratios(tops, bottoms, differences=pairs)
        assert pooled == Estimate(0.375, 0.25, 0.5, 16)  # both the second: 1/4 - 0; both the first: 1/2 - 0
        assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
        assert (nothing.value, nothing.low) == (None, None)

    def test_undefined(self) -> None:
        tops = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        bottoms = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
        assert np.isnan(quotient([1.0, 0.0], [0.0, 0.0])).all()
        _, nothing, rare = ratios(tops, bottoms)
        assert nothing == Estimate(None, None, None, 0)
        assert ends(rare) == (0.5, 0.5)  # a resample of the second cluster alone counts for nothing

    def test_of_many_papers_the_normal_interval_is_that_of_the_bootstrap(self) -> None:
        rng = np.random.default_rng(3)
        bottoms = rng.integers(0, 9, size=(900, 2)).astype(float)
        tops = rng.binomial(bottoms.astype(int), [[0.3, 0.01]])
        normal = ratios(tops, bottoms, differences=[([0], [1])])
        drawn = ratios(tops, bottoms, differences=[([0], [1])], n_resamples=10_000)
        assert [estimate.value for estimate in normal] == [estimate.value for estimate in drawn]
        for ours, theirs in zip(normal, drawn, strict=True):
            assert ends(ours) == pytest.approx(ends(theirs), abs=0.002)

    def test_a_share_of_many_papers_stays_a_share(self) -> None:
        (rare,) = ratios(np.eye(600)[:, :1], np.ones((600, 1)))  # one of 600: 0.0017, give or take 0.0033
        assert rare.low == 0.0
        assert rare.high == pytest.approx(0.0017 + 0.0033, abs=0.0002)


def test_bootstrap_of_a_statistic_by_hand() -> None:
    # The larger of two counts, of clusters (1, 0) and (0, 1): 2, 1, 2 or 2.
    estimate = bootstrap([[1, 0], [0, 1]], lambda sums: sums.max(axis=-1), n=7)
    assert estimate == Estimate(1.0, 1.0, 2.0, 7)
    undefined = bootstrap([[1.0], [0.0]], lambda sums: np.full(len(sums), np.nan))
    assert undefined == Estimate(None, None, None, 2)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda: interval([0.1, NAN]), "values[1]"),
        (lambda: interval([0.0, 1.0], n_resamples=0), "n_resamples"),
        (lambda: interval([0.0, 1.0], ["a"]), "clusters"),
        (lambda: ratios([[1.0, 2.0]], [[1.0, 2.0, 3.0]]), "ratios"),
        (lambda: ratios([[NAN]], [[1.0]]), "tops[0, 0]"),
    ],
)
def test_what_is_refused(call: object, place: str) -> None:
    with pytest.raises(SettingError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.place == place


def test_standard_error_by_hand() -> None:
    # mean 0.5, deviations -0.5 0 0 0.5, variance 0.5 / 4 = 0.125; sqrt(0.125) / sqrt(4) = sqrt(0.03125)
    assert standard_error([0.0, 0.5, 0.5, 1.0]) == pytest.approx(0.03125**0.5, abs=1e-15)
    assert standard_error([0.4]) is None


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
