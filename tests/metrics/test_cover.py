"""Optimal cover, best coverage at K, ceiling: against enumeration of all selections."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencebench_core.metrics import best_cover, ceiling_range, cover, optimal_cover

Covers = list[frozenset[int]]
COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=9)
BUDGETS = st.integers(0, 6)
unhurried = settings(deadline=None)  # the first call of the solver imports it


def n_covered(selection: tuple[int, ...], covers: Covers) -> int:
    return sum(bool(cover & set(selection)) for cover in covers)


def most_covered(covers: Covers, budget: int) -> int:
    """By going through all selections of sentences 0 to 8."""
    return max(n_covered(picks, covers) for picks in combinations(range(9), min(budget, 9)))


# Sentence 0 covers aspects 1, 2, 3, 4 and tempts; 1 covers 0, 1, 2; 2 covers 3, 4, 5.
TEMPTING: Covers = [frozenset(cover) for cover in ({1}, {0, 1}, {0, 1}, {0, 2}, {0, 2}, {2})]


@pytest.mark.parametrize(
    ("budget", "best", "highest"),
    [
        (0, (), 0.0),
        (1, (0,), 4 / 6),  # four aspects, the others have three
        (2, (1, 2), 1.0),  # six; greedy's 0 and 1 have five
        (50, (1, 2), 1.0),  # no pick is useless; greedy takes 3 where 2 suffice
    ],
)
def test_greedy_is_tempted_and_the_solver_is_not(budget: int, best: tuple[int, ...], highest: float) -> None:
    assert best_cover(TEMPTING, budget) == best
    assert ceiling_range(TEMPTING, budget) == (highest, highest)
    assert optimal_cover(TEMPTING) == (1, 2)
    assert optimal_cover([frozenset({5}), *TEMPTING]) == (1, 2, 5)
    assert ceiling_range(TEMPTING, None) == (1.0, 1.0)
    assert best_cover([frozenset({8, 3})], 1) == (3,)  # ties go to the first in the paper


def test_nothing_to_cover() -> None:
    covers = [frozenset({4}), frozenset[int]()]  # what nothing covers lowers the ceiling
    assert optimal_cover(covers) == best_cover(covers, 3) == (4,)
    assert ceiling_range(covers, None) == ceiling_range(covers, 3) == (0.5, 0.5)
    assert optimal_cover([]) == best_cover([], 3) == optimal_cover([frozenset()]) == ()
    assert ceiling_range([], 3) is None
    assert ceiling_range([frozenset()], 3) == (0.0, 0.0)


@unhurried
@given(COVERS)
def test_no_smaller_selection_covers_as_much_as_the_optimal_one(covers: Covers) -> None:
    optimal = optimal_cover(covers)
    assert n_covered(optimal, covers) == sum(map(bool, covers))
    assert not optimal or most_covered(covers, len(optimal) - 1) < n_covered(optimal, covers)
    assert list(optimal) == sorted(set(optimal))


@unhurried
@given(COVERS, BUDGETS)
def test_best_cover_meets_the_enumeration(covers: Covers, budget: int) -> None:
    best, most = best_cover(covers, budget), most_covered(covers, budget)
    assert len(best) <= budget
    assert list(best) == sorted(set(best))
    assert n_covered(best, covers) == most
    assert ceiling_range(covers, budget) == ((most / len(covers),) * 2 if covers else None)


def steiner_triples(n_points: int) -> Covers:
    """Triples in which every two of the points (3, 9, 15, 21, ...) meet once, by Bose's construction.

    Hardest of covers: each sentence (a point) covers as many aspects (triples), every two of them share one.
    """
    third = n_points // 3
    triples = [{point, point + third, point + 2 * third} for point in range(third)]
    for a, b in combinations(range(third), 2):
        mean = (a + b) * (third + 1) // 2 % third
        layers = ((third * layer, third * ((layer + 1) % 3)) for layer in range(3))
        triples += [{a + here, b + here, mean + above} for here, above in layers]
    return list(map(frozenset, triples))


def test_a_search_that_stops_early_bounds_the_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cover, "_OPTIONS", {"mip_rel_gap": 0.0, "node_limit": 1})
    cover._largest.cache_clear()
    low, high = ceiling_range(steiner_triples(15), 5) or (0.0, 0.0)
    assert low <= 27 / 35 < high < 1.0  # 7 a point, every two share one, two hold three
    cover._largest.cache_clear()


def test_a_hard_cover_ends_with_the_same_range_every_time() -> None:
    covers = steiner_triples(45)
    low, high = ceiling_range(covers, 10) or (0.0, 0.0)
    # two points share one triple: 10 of them meet 220 - 45 triples, and each triple among them counts once more
    assert 175 / 330 <= low < high <= 220 / 330
    best = best_cover(covers, 10)
    assert (len(best), n_covered(best, covers) / 330) == (10, low)
    assert n_covered(optimal_cover(covers), covers) == 330
    cover._largest.cache_clear()
    assert ceiling_range(covers, 10) == (low, high)
