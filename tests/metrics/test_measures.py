"""The table of measures: by hand, in their ranges, and against scikit-learn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from evidencebench_core.metrics import MEASURES

Covers = list[frozenset[int]]
COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), min_size=1, max_size=7)
PICKS = st.lists(st.integers(0, 8), unique=True, max_size=9).map(tuple)


def values(picks: tuple[int, ...], covers: Covers, budget: int | None = None) -> list[float | None]:
    return [measure.function(picks, covers, budget) for measure in MEASURES]


def test_by_hand() -> None:
    covers = [frozenset({2, 5}), frozenset({5})]
    assert [measure.name for measure in MEASURES] == ["aspect_recall", "picks", "precision", "f1"]
    assert values((2, 9), covers) == [1 / 2, 2, 1 / 2, 1 / 2]
    # One of 2, 5 and 9: aspect 0 is met by 2 of 3, aspect 1 by 1 of 3; 2 of 3 cover. 2 * 1/2 * 2/3 / (7/6) = 4/7.
    assert values((2, 5, 9), covers, 1) == pytest.approx([1 / 2, 3, 2 / 3, 4 / 7])
    assert values((), covers, 1) == [0.0, 0, 0.0, 0.0]
    assert values((2,), []) == [None, 1, None, None]


@given(PICKS, COVERS, st.integers(0, 9))
def test_they_lie_in_their_range(picks: tuple[int, ...], covers: Covers, budget: int) -> None:
    for measure, value in zip(MEASURES, values(picks, covers, budget), strict=True):
        assert measure.low <= (value or 0.0) <= measure.high


@given(PICKS, st.frozensets(st.integers(0, 8), min_size=1))
def test_where_a_sentence_is_an_aspect_f1_is_that_of_labels(
    picks: tuple[int, ...], gold: frozenset[int]
) -> None:
    labels = [[int(sentence in chosen) for sentence in range(9)] for chosen in (gold, picks)]
    *_, f1 = values(picks, [frozenset({sentence}) for sentence in gold])
    assert f1 == pytest.approx(f1_score(*labels, zero_division=0))
