"""Gini-Simpson and its neighbours, by example 102 and by simulation."""

import numpy as np
import pytest

from evidencebench_core.stats.diversity import diversity, expected_distinct, total_variation


def test_by_hand() -> None:
    found = diversity([6, 3, 1])
    assert found.gini_simpson == pytest.approx(0.54)
    assert found.unbiased == pytest.approx(0.6)
    assert found.greatest == pytest.approx(2 / 3)
    assert found.evenness == pytest.approx(0.81)
    assert found.effective == pytest.approx(2.17, abs=5e-3)
    even = diversity([7] * 16)
    assert (even.gini_simpson, even.greatest, even.evenness, even.effective) == (0.9375, 0.9375, 1.0, 16.0)
    assert total_variation([0.6, 0.3, 0.1], [0.5, 0.3, 0.2]) == pytest.approx(0.1)
    published = diversity([0.5, 0.5])
    assert np.isnan(published.unbiased)  # shares are no whole counts
    assert np.isnan(diversity([0, 0]).gini_simpson)


def test_published() -> None:
    value = 0.81  # of 16 branches (rule 62)
    assert value / (1 - 1 / 16) == pytest.approx(0.864)
    assert 1 / (1 - value) == pytest.approx(5.26, abs=5e-3)


def test_rarefaction_meets_the_simulation() -> None:
    rng = np.random.default_rng(1)
    has = rng.random((12, 30)) < 0.2  # papers, descriptors
    drawn = [int(has[rng.permutation(12)[:5]].any(axis=0).sum()) for _ in range(20_000)]
    having = has.sum(axis=0)
    assert expected_distinct(having, 12, 5) == pytest.approx(float(np.mean(drawn)), abs=0.05)
    assert expected_distinct(having, 12, 12) == expected_distinct(having, 12, 99) == (having > 0).sum()
