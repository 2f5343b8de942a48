"""Aspect Recall, plain and expected, against enumeration; the table of measures, against scikit-learn."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from evidencebench_core.metrics import MEASURES, aspect_recall, expected_recall, random_expectation

Covers = list[frozenset[int]]
COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=7)
SELECTIONS = st.lists(st.integers(0, 8), max_size=12)
PICKS = st.lists(st.integers(0, 8), unique=True, max_size=9).map(tuple)


def test_recall_by_hand() -> None:
    # Aspect 0 is covered by 2 or 5, aspect 1 by 5, aspect 2 by 7, aspect 3 by nothing.
    four = [frozenset({2, 5}), frozenset({5}), frozenset({7}), frozenset[int]()]
    selections = ([], [0, 1], [2], [5, 2, 5], [2, 5, 7])
    assert [aspect_recall(picks, four) for picks in selections] == [0.0, 0.0, 1 / 4, 2 / 4, 3 / 4]
    assert aspect_recall([2], []) is None  # nothing to cover is undefined, not zero


def enumerated(picked: set[int], covers: Covers, budget: int) -> float:
    """The mean recall over all subsets, by going through them."""
    subsets = [set(subset) for subset in combinations(sorted(picked), min(budget, len(picked)))]
    met = sum(bool(cover & subset) for subset in subsets for cover in covers)
    return float(Fraction(met, len(subsets) * len(covers)))


def test_one_sentence_too_many_by_hand() -> None:
    # 3 picked, K = 2: subsets {0,1} {0,2} {1,2}. Aspect 0 (by 0): met in 2 of 3. Aspect 1 (by 0 or 1):
    # met in 3 of 3. Aspect 2 (by 7): in none. (2/3 + 1 + 0) / 3 = 5/9.
    covers = [frozenset({0}), frozenset({0, 1}), frozenset({7})]
    assert expected_recall([0, 1, 2], covers, 2) == 5 / 9
    # Within the budget it is the plain recall, whatever is picked twice.
    assert expected_recall([0, 5, 0], covers, 2) == expected_recall([0, 5], covers, None) == 2 / 3


def test_random_expectation_by_hand() -> None:
    # n = 4, K = 2, C(4,2) = 6. One covering sentence: 1 - C(3,2)/6 = 1/2. Three: 1 - C(1,2)/6 = 1. Mean 3/4.
    assert random_expectation(4, [frozenset({0}), frozenset({1, 2, 3})], 2) == 0.75
    # C(20000, 300) has 600 digits; one covering sentence is drawn with probability K/n = 300/20000.
    assert random_expectation(20_000, [frozenset({5})], 300) == 300 / 20_000
    assert random_expectation(4, [frozenset({0})], None) is random_expectation(4, [], 2) is None


@given(SELECTIONS, COVERS, st.integers(0, 10))
def test_it_meets_the_enumeration(selection: list[int], covers: Covers, budget: int) -> None:
    expected = enumerated(set(selection), covers, budget) if covers else None
    assert expected_recall(selection, covers, budget) == expected


@given(st.integers(9, 30), COVERS, st.integers(0, 35))
def test_random_expectation_is_the_expected_recall_of_the_whole_paper(
    n_sentences: int, covers: Covers, budget: int
) -> None:
    whole = expected_recall(range(n_sentences), covers, budget)
    assert random_expectation(n_sentences, covers, budget) == whole


def values(picks: tuple[int, ...], covers: Covers, budget: int | None = None) -> list[float | None]:
    return [measure.function(picks, covers, budget) for measure in MEASURES]


def test_by_hand() -> None:
    covers = [frozenset({2, 5}), frozenset({5})]
    assert {measure.name for measure in MEASURES if measure.is_share} == {"aspect_recall", "precision", "f1"}
    assert MEASURES[2].explanation == "share of the picks that cover an aspect"
    assert values((2, 9), covers) == [1 / 2, 2, 1 / 2, 1 / 2]
    # One of 2, 5 and 9: aspect 0 is met by 2 of 3, aspect 1 by 1 of 3; 2 of 3 cover. 2 * 1/2 * 2/3 / (7/6) = 4/7.
    assert values((2, 5, 9), covers, 1) == pytest.approx([1 / 2, 3, 2 / 3, 4 / 7])
    assert values((), covers, 1) == [0.0, 0, 0.0, 0.0]
    assert values((2,), []) == [None, 1, None, None]


@given(PICKS, COVERS, st.integers(0, 9))
def test_they_lie_in_their_range(picks: tuple[int, ...], covers: Covers, budget: int) -> None:
    for measure, value in zip(MEASURES, values(picks, covers, budget), strict=True):
        assert 0 <= (value or 0.0) <= (1 if measure.is_share else len(picks))


@given(PICKS, st.frozensets(st.integers(0, 8), min_size=1))
def test_where_a_sentence_is_an_aspect_f1_is_that_of_labels(
    picks: tuple[int, ...], gold: frozenset[int]
) -> None:
    labels = [[int(sentence in chosen) for sentence in range(9)] for chosen in (gold, picks)]
    *_, f1 = values(picks, [frozenset({sentence}) for sentence in gold])
    assert f1 == pytest.approx(f1_score(*labels, zero_division=0))
