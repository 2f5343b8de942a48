"""Standard error and bootstrap interval."""

from __future__ import annotations

import ast
import csv
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import bootstrap, bootstrap_interval, standard_error

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def test_standard_error_by_hand() -> None:
    # mean 0.5, deviations -0.5 0 0 0.5, variance 0.5 / 4 = 0.125; sqrt(0.125) / sqrt(4) = sqrt(0.03125)
    assert standard_error([0.0, 0.5, 0.5, 1.0]) == pytest.approx(0.03125**0.5, abs=1e-15)


@pytest.mark.parametrize("values", [[], [0.4]])
def test_fewer_than_two_values_have_no_spread(values: list[float]) -> None:
    assert standard_error(values) is None
    assert bootstrap_interval(values, generator()) is None


def test_values_that_are_all_alike() -> None:
    assert standard_error([0.25] * 5) == 0.0
    assert bootstrap_interval([0.25] * 5, generator()) == (0.25, 0.25)
    assert bootstrap_interval([0.25] * 500, generator()) == (0.25, 0.25)


def test_two_values_by_hand() -> None:
    # The mean of two draws from {0, 1} is 0, 1/2, 1 with probability 1/4, 1/2, 1/4.
    assert bootstrap_interval([0.0, 1.0], generator(), 400, level=0.95) == (0.0, 1.0)
    assert bootstrap_interval([0.0, 1.0], generator(), 400, level=0.40) == (0.5, 0.5)


@pytest.mark.parametrize("values", [[0.1, float("nan")], [0.1, float("inf")]])
def test_what_is_not_a_number_is_refused(values: list[float]) -> None:
    with pytest.raises(SettingError, match=r"values\[1\]"):
        standard_error(values)
    with pytest.raises(SettingError, match=r"values\[1\]"):
        bootstrap_interval(values, generator())


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(SettingError, match="level: is 95"):
        bootstrap_interval([0.0, 1.0], generator(), level=95)
    with pytest.raises(SettingError, match="n_resamples: is 0"):
        bootstrap_interval([0.0, 1.0], generator(), n_resamples=0)
    with pytest.raises(SettingError, match="shape"):
        standard_error([[0.0, 1.0]])


@given(SHARES)
def test_the_interval_lies_within_the_values(values: list[float]) -> None:
    interval = bootstrap_interval(values, generator(), 200)
    assert interval is not None
    assert min(values) - 1e-12 <= interval[0] <= interval[1] <= max(values) + 1e-12


def test_one_seed_one_interval() -> None:
    values = np.random.default_rng(7).random(50)
    assert bootstrap_interval(values, generator()) == bootstrap_interval(values, generator())
    assert bootstrap_interval(values, generator()) != bootstrap_interval(values, np.random.default_rng(1))


def test_a_wider_level_gives_a_wider_interval() -> None:
    values = np.random.default_rng(7).random(50)
    wide = bootstrap_interval(values, generator(), level=0.99)
    narrow = bootstrap_interval(values, generator(), level=0.80)
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0] < values.mean() < narrow[1] < wide[1]


def test_the_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    # 400 samples of 60 from a distribution with mean 1/3 (Beta(1, 2)): about 95% of the intervals hold
    # it. The count has a standard deviation of sqrt(400 * .95 * .05) = 4.4, and the percentile interval
    # is a little short at n = 60 (about 94%), so from 362 to 394 allows for four of them.
    rng = np.random.default_rng(123)
    intervals = [bootstrap_interval(rng.beta(1, 2, size=60), rng, 400) for _ in range(400)]
    held = sum(interval is not None and interval[0] <= 1 / 3 <= interval[1] for interval in intervals)
    assert 362 <= held <= 394


def test_drawing_by_value_has_the_distribution_of_drawing_instances() -> None:
    # 3 different values in 600 go by value. The standard error of a mean of 600 is exact: sd / sqrt(600).
    values = np.repeat([0.0, 0.5, 1.0], [300, 100, 200])
    means = bootstrap.resampled_means(values, generator(), 20_000)
    assert means.mean() == pytest.approx(values.mean(), abs=4 * values.std() / (600 * 20_000) ** 0.5)
    assert means.std() == pytest.approx(values.std() / 600**0.5, rel=0.03)


def test_many_instances_stay_within_memory() -> None:
    values = np.random.default_rng(3).random(20_000)  # all different: the path that draws instances
    tracemalloc.start()
    try:
        means = bootstrap.resampled_means(values, generator(), 300)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert means.shape == (300,)
    assert peak < 64_000_000  # all at once would be 300 * 20,000 * 12 bytes = 72 MB, 10,000 resamples 2.4 GB


@pytest.mark.realdata
class TestThePapersFigures:
    """The authors' logs of their runs over the test set, and what the paper prints of them."""

    @pytest.fixture
    def logs(self, train_path: Path) -> dict[str, list[float]]:
        with train_path.with_name("official_logs.csv").open(newline="", encoding="utf-8") as file:
            csv.field_size_limit(10_000_000)
            return {
                row["Experiment Name"]: ast.literal_eval(row["Coverage List"] or row["Recall List"])
                for row in csv.DictReader(file)
            }

    @pytest.mark.parametrize(
        ("experiment", "n", "percent", "error"),
        [
            ("gpt4o__ICL__opt_k__filter", 293, 51.44, 1.44),
            ("gpt4o__original__opt_k__filter", 293, 48.10, 1.48),
            ("gpt_4o__result_SBS__opt_k__filter", 288, 52.57, 2.12),
            ("bm25__opt_k__filter", 293, 16.46, None),
            ("bm25__10__filter", 293, 34.40, None),
        ],
    )
    def test_anchors(
        self, logs: dict[str, list[float]], experiment: str, n: int, percent: float, error: float | None
    ) -> None:
        values = 100 * np.array(logs[experiment])
        assert len(values) == n
        assert values.mean() == pytest.approx(percent, abs=0.005)
        if error is not None:
            assert standard_error(values) == pytest.approx(error, abs=0.005)

    @pytest.mark.parametrize(
        ("experiment", "printed"),
        [
            ("GritLM__-O__opt_k__filter", 1.2),  # 1.2491 against 1.2512 with ddof 1
            ("GritLM__+O__opt_k__filter", 1.3),  # 1.3483 against 1.3506
            ("GritLM__+O__result__5__filter", 2.2),  # 2.2482 against 2.2521
        ],
    )
    def test_where_rounding_tells_them_apart_the_paper_has_ddof_0(
        self, logs: dict[str, list[float]], experiment: str, printed: float
    ) -> None:
        values = 100 * np.array(logs[experiment])
        ours = standard_error(values)
        assert ours is not None
        assert round(ours, 1) == printed
        assert round(float(values.std(ddof=1) / len(values) ** 0.5), 1) != printed
