"""Marks of sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.metrics import marks, times_covered

COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=7)
SELECTIONS = st.lists(st.integers(0, 8), max_size=12)

# aspect 0 by 0, 1 and 2; aspect 1 by 2 and 3
COVERED = [frozenset({0, 1, 2}), frozenset({2, 3})]


def test_by_hand() -> None:
    # 0 covers aspect 0; 5 covers nothing. Aspect 1 is missed, so its 2 and 3 are; 1 is gold only.
    assert marks([0, 5], COVERED, 7) == ("both", "gold", "missed", "missed", "none", "picked", "none")


def test_a_selection_of_nothing_misses_everything_and_no_selection_misses_nothing() -> None:
    assert marks([], COVERED, 5) == ("missed",) * 4 + ("none",)
    assert marks(None, COVERED, 5) == ("gold",) * 4 + ("none",)


def test_without_aspects_there_is_no_gold() -> None:
    assert marks([1], [], 3) == ("none", "picked", "none")


@given(SELECTIONS, COVERS)
def test_every_mark_is_what_its_definition_says(selection: list[int], covers: list[frozenset[int]]) -> None:
    times = times_covered(selection, covers)
    for sentence, mark in enumerate(marks(selection, covers, 9)):
        aspects = [position for position, cover in enumerate(covers) if sentence in cover]
        if sentence in selection:
            assert mark == ("both" if aspects else "picked")
        elif any(times[position] == 0 for position in aspects):
            assert mark == "missed"
        else:
            assert mark == ("gold" if aspects else "none")
