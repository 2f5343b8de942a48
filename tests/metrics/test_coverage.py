"""Plain Aspect Recall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import SettingError
from evidencebench_core.metrics import aspect_recall, times_covered

COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=7)
SELECTIONS = st.lists(st.integers(0, 8), max_size=12)

# aspect 0 by 2 or 5, aspect 1 by 5, aspect 2 by 7, aspect 3 by nothing
FOUR = [frozenset({2, 5}), frozenset({5}), frozenset({7}), frozenset[int]()]


@pytest.mark.parametrize(
    ("selection", "recall"),
    [
        ([], 0.0),
        ([0, 1], 0.0),
        ([2], 1 / 4),  # aspect 0
        ([5], 2 / 4),  # aspects 0 and 1
        ([5, 2, 5], 2 / 4),  # 2 adds nothing, nor does the second 5
        ([2, 5, 7], 3 / 4),  # all that can be covered
    ],
)
def test_the_denominator_is_all_aspects(selection: list[int], recall: float) -> None:
    assert aspect_recall(selection, FOUR) == recall


def test_the_denominator_of_the_authors_code_leaves_out_what_no_sentence_covers() -> None:
    assert aspect_recall([5], FOUR, "coverable") == 2 / 3
    assert aspect_recall([2, 5, 7], FOUR, "coverable") == 1.0


def test_nothing_to_cover_is_undefined_and_not_zero() -> None:
    assert aspect_recall([1], []) is None
    assert aspect_recall([1], [frozenset()], "coverable") is None
    assert aspect_recall([1], [frozenset()]) == 0.0  # an aspect there is, though nothing covers it


def test_an_unknown_denominator_is_refused() -> None:
    with pytest.raises(SettingError, match=r"denominator: is .some.\. Denominators are: all, coverable"):
        aspect_recall([1], FOUR, "some")  # type: ignore[arg-type]


def test_times_covered_counts_different_sentences() -> None:
    assert times_covered([5, 2, 5, 7], FOUR) == (2, 1, 1, 0)
    assert times_covered([], FOUR) == (0, 0, 0, 0)


@given(SELECTIONS, st.integers(0, 8), COVERS, st.sampled_from(["all", "coverable"]))
def test_recall_never_falls_when_a_sentence_is_added(
    selection: list[int], one_more: int, covers: list[frozenset[int]], denominator: str
) -> None:
    before = aspect_recall(selection, covers, denominator)  # type: ignore[arg-type]
    after = aspect_recall([*selection, one_more], covers, denominator)  # type: ignore[arg-type]
    if before is None:
        assert after is None
    else:
        assert after is not None
        assert 0.0 <= before <= after <= 1.0


@given(SELECTIONS, COVERS)
def test_order_and_repetition_make_no_difference(selection: list[int], covers: list[frozenset[int]]) -> None:
    assert aspect_recall(selection, covers) == aspect_recall([*reversed(selection), *selection], covers)


@given(SELECTIONS, COVERS)
def test_an_aspect_is_covered_where_it_is_covered_at_least_once(
    selection: list[int], covers: list[frozenset[int]]
) -> None:
    times = times_covered(selection, covers)
    recall = aspect_recall(selection, covers)
    assert recall == (sum(count > 0 for count in times) / len(times) if times else None)
