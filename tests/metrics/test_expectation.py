"""The closed form of an over-filled selection, against enumeration."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from evidencebench_core.errors import SettingError
from evidencebench_core.metrics import expected_recall, random_expectation

COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=7)
SELECTIONS = st.lists(st.integers(0, 8), max_size=12)


def enumerated(picked: set[int], covers: list[frozenset[int]], budget: int, n_aspects: int) -> float:
    """The mean recall over all subsets, by going through them."""
    subsets = [set(subset) for subset in combinations(sorted(picked), budget)]
    met = sum(bool(cover & subset) for subset in subsets for cover in covers)
    return float(Fraction(met, len(subsets) * n_aspects))


def test_one_sentence_too_many_by_hand() -> None:
    # 3 picked, K = 2: subsets {0,1} {0,2} {1,2}. Aspect 0 (by 0): met in 2 of 3. Aspect 1 (by 0 or 1):
    # met in 3 of 3. Aspect 2 (by 7): in none. (2/3 + 1 + 0) / 3 = 5/9.
    covers = [frozenset({0}), frozenset({0, 1}), frozenset({7})]
    assert expected_recall([0, 1, 2], covers, 2) == 5 / 9
    # Within the budget it is the plain recall.
    covers = [frozenset({0}), frozenset({1})]
    assert expected_recall([0, 5], covers, 2) == 0.5
    assert expected_recall([0, 5], covers, None) == 0.5
    assert expected_recall([0, 0, 0, 5, 5], covers, 2) == 0.5  # repeated picks do not overfill


def test_random_expectation_by_hand() -> None:
    # n = 4, K = 2, C(4,2) = 6. One covering sentence: 1 - C(3,2)/6 = 1/2. Three: 1 - C(1,2)/6 = 1. Mean 3/4.
    assert random_expectation(4, [frozenset({0}), frozenset({1, 2, 3})], 2) == 0.75
    # C(20000, 300) has 600 digits; one covering sentence is drawn with probability K/n = 300/20000.
    assert random_expectation(20_000, [frozenset({5})], 300) == 300 / 20_000
    assert random_expectation(4, [frozenset({0})], None) is random_expectation(4, [], 2) is None
    for refused in (lambda: random_expectation(9, [], -1), lambda: expected_recall([0, 1], [], -1)):
        with pytest.raises(SettingError, match="budget: is -1"):
            refused()


@given(SELECTIONS, COVERS, st.integers(0, 10))
def test_it_meets_the_enumeration(selection: list[int], covers: list[frozenset[int]], budget: int) -> None:
    n_aspects = len(covers)
    picked = set(selection)
    got = expected_recall(selection, covers, budget)
    if not n_aspects:
        assert got is None
    else:
        assert got == enumerated(picked, covers, min(budget, len(picked)), n_aspects)


@given(st.integers(9, 30), COVERS, st.integers(0, 35))
def test_random_expectation_is_the_expected_recall_of_the_whole_paper(
    n_sentences: int, covers: list[frozenset[int]], budget: int
) -> None:
    whole = expected_recall(range(n_sentences), covers, budget)
    assert random_expectation(n_sentences, covers, budget) == whole


def test_it_meets_the_hypergeometric_distribution() -> None:
    # K of the n picks are drawn: an aspect is missed when none of the picks that cover it is among them.
    rng = np.random.default_rng(42)
    covers = [frozenset(rng.choice(60, size=size, replace=False).tolist()) for size in (1, 2, 3, 5, 8, 13)]
    picked = rng.choice(60, size=17, replace=False).tolist()
    exact = np.mean([1 - hypergeom.pmf(0, 17, len(cover & {*picked}), 6) for cover in covers])
    assert expected_recall(picked, covers, 6) == pytest.approx(exact, abs=1e-12)
