"""Resampled tables of counts: against all resamples, the item bootstrap, and shapes that must be kept."""

from __future__ import annotations

import numpy as np
import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import percentile_interval, resampled_tables

# Items as one cell each of gold (yes, no) by read (yes, no, null): spec example 54.
ITEMS = np.eye(6, dtype=np.int64)[[0, 1, 2, 4, 3]].reshape(5, 2, 3)


def test_54_mean_and_spread_of_all_resamples() -> None:
    from evidencebench_core.metrics import weighted_f1

    values = weighted_f1(resampled_tables(ITEMS, np.random.default_rng(0)))
    assert values.mean() == pytest.approx(0.4277, abs=3 * 0.2340 / 100)
    assert values.std() == pytest.approx(0.2340, abs=3 * 0.2340 / 141)


def test_60_by_class() -> None:
    from evidencebench_core.metrics import share_of_yes

    items = np.eye(4, dtype=np.int64)[[0, 0, 3, 2]].reshape(4, 2, 2)  # gold by read, yes first
    items = np.pad(items, ((0, 0), (0, 0), (0, 1)))
    drawn = resampled_tables(items, np.random.default_rng(0), strata=["yes", "yes", "no", "no"])
    assert (drawn.sum(axis=-1) == 2).all()  # balance is kept
    shares = share_of_yes(drawn)
    values, counts = np.unique(shares, return_counts=True)
    assert values.tolist() == [0.5, 0.75, 1.0]
    assert counts / 10_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.02)
    assert percentile_interval(shares) == (0.5, 1.0)
    assert shares.std() == pytest.approx(0.1768, abs=0.005)


@pytest.mark.parametrize("n_tables", [6, 40])  # few tables, and almost as many as units
def test_it_is_the_item_bootstrap(n_tables: int) -> None:
    rng = np.random.default_rng(1)
    items = np.eye(n_tables, dtype=np.int64)[rng.integers(0, n_tables, 60)]
    drawn = resampled_tables(items, rng, 4_000)
    plain = np.array([items[rng.integers(0, 60, 60)].sum(axis=0) for _ in range(4_000)])
    assert drawn.mean(axis=0) == pytest.approx(plain.mean(axis=0), abs=0.3)
    assert np.cov(drawn.T) == pytest.approx(np.cov(plain.T), abs=1.0)
    assert (drawn.sum(axis=1) == 60).all()


def test_clusters_are_drawn_whole_and_one_seed_gives_one_result() -> None:
    papers = np.array([[3, 0], [0, 5], [3, 0]])
    drawn = resampled_tables(papers, np.random.default_rng(0), 500)
    assert set(drawn[:, 0]) <= {0, 3, 6, 9}
    assert (drawn[:, 0] // 3 + drawn[:, 1] // 5 == 3).all()
    assert (drawn == resampled_tables(papers, np.random.default_rng(0), 500)).all()


def test_bad_settings() -> None:
    with pytest.raises(SettingError, match="n_resamples"):
        resampled_tables(ITEMS, np.random.default_rng(0), 0)
    with pytest.raises(SettingError, match="5 labels"):
        resampled_tables(ITEMS, np.random.default_rng(0), 10, strata=["a"])


def test_undefined_resamples_are_left_out() -> None:
    assert percentile_interval([np.nan, 1.0, 1.0]) == (1.0, 1.0)
    assert percentile_interval([np.nan, np.nan, 1.0]) is None
    assert percentile_interval([]) is None
