"""Bad selections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import SelectionError
from evidencebench_core.tasks import validated_selection


@pytest.mark.parametrize(
    ("picks", "told"),
    [
        ("0, 1", "p1: has '0, 1' for a selection. Give a list of 0-based sentence indices."),
        ({"0": 1}, "for a selection"),
        (7, "p1: has 7 for a selection"),
        ([1, True], "p1: selects True, not an integer"),
        ([1.0], "p1: selects 1.0, not an integer"),
        (["1"], "p1: selects '1', not an integer"),
        ([np.True_], "not an integer"),
        (np.array([1.0]), "p1: selects 1.0, not an integer"),
        (np.array(1), "p1: has 1 for a selection"),
        ([-1], "p1: selects sentence -1, but the paper has 5 sentences. Indices run from 0 to 4."),
        ([0, 5], "p1: selects sentence 5, but the paper has 5 sentences"),
    ],
)
def test_bad_ones_are_named(picks: object, told: str) -> None:
    with pytest.raises(SelectionError) as caught:
        validated_selection(picks, 5, "p1")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 8)))
def test_it_keeps_every_index_once_in_order(picks: list[int]) -> None:
    checked = validated_selection([np.int64(index) for index in picks], 9, "p1")
    assert all(type(index) is int for index in checked)
    assert len(set(checked)) == len(checked)
    assert set(checked) == set(picks)
    assert (
        checked == validated_selection(picks, 9, "p1") == validated_selection(np.array(picks, int), 9, "p1")
    )
    assert [picks.index(index) for index in checked] == sorted(picks.index(index) for index in checked)
