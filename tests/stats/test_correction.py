"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import holm

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.6: times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.6.
    assert holm([0.03, 0.01, 0.6, 0.02]) == pytest.approx((0.06, 0.04, 0.6, 0.06))


def test_it_never_falls_as_the_p_value_grows() -> None:
    # 3 * 0.02 = 0.06, then 2 * 0.025 = 0.05, raised to 0.06.
    assert holm([0.02, 0.025, 0.9]) == pytest.approx((0.06, 0.06, 0.9))


def test_it_is_at_most_1() -> None:
    assert holm([0.7, 0.8]) == (1.0, 1.0)


def test_a_test_that_could_not_be_made_does_not_count() -> None:
    assert holm([None, 0.02, None, 0.03]) == (None, pytest.approx(0.04), None, pytest.approx(0.04))
    assert holm([]) == ()


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(p: float) -> None:
    with pytest.raises(SettingError, match=r"p_values\[1\]"):
        holm([0.5, p])


@given(PS)
def test_it_lies_between_the_p_value_and_bonferronis(p_values: list[float]) -> None:
    for p, adjusted in zip(p_values, holm(p_values), strict=True):
        assert adjusted is not None
        assert p <= adjusted <= min(1.0, len(p_values) * p)


@given(PS, st.floats(0.001, 0.2))
def test_it_rejects_what_the_stepwise_rule_rejects(p_values: list[float], alpha: float) -> None:
    # The rule as Holm wrote it: walk up the sorted p-values while p_(k) * (m - k + 1) <= alpha.
    rejected: set[int] = set()
    m = len(p_values)
    for k, place in enumerate(sorted(range(m), key=p_values.__getitem__)):
        if (m - k) * p_values[place] > alpha:
            break
        rejected.add(place)
    assert {i for i, p in enumerate(holm(p_values)) if p is not None and p <= alpha} == rejected
