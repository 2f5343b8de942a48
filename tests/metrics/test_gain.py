"""The ledger of a selection."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.metrics import Gain, aspect_recall, marginal_gains

COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=7)
SELECTIONS = st.lists(st.integers(0, 8), max_size=12)


def test_by_hand() -> None:
    covers = [frozenset({2, 5}), frozenset({5}), frozenset({7}), frozenset({5, 7})]
    assert marginal_gains([5, 1, 7, 2], covers) == (
        Gain(5, new=(0, 1, 3), repeated=(), recall_so_far=3 / 4),
        Gain(1, new=(), repeated=(), recall_so_far=3 / 4),
        Gain(7, new=(2,), repeated=(3,), recall_so_far=1.0),
        Gain(2, new=(), repeated=(0,), recall_so_far=1.0),
    )


def test_a_second_pick_of_a_sentence_repeats_all_it_covers() -> None:
    assert marginal_gains([3, 3], [frozenset({3})])[1] == Gain(3, (), (0,), 1.0)


def test_without_aspects_recall_is_undefined() -> None:
    assert marginal_gains([3], []) == (Gain(3, (), (), None),)
    assert marginal_gains([], [frozenset({3})]) == ()


def test_the_denominator_is_a_choice() -> None:
    assert marginal_gains([3], [frozenset({3}), frozenset()], "coverable")[0].recall_so_far == 1.0


@given(SELECTIONS, COVERS)
def test_the_running_recall_is_that_of_the_picks_so_far(
    selection: list[int], covers: list[frozenset[int]]
) -> None:
    gains = marginal_gains(selection, covers)
    assert [gain.sentence for gain in gains] == selection
    for end, gain in enumerate(gains, start=1):
        assert gain.recall_so_far == aspect_recall(selection[:end], covers)
        assert set(gain.new).isdisjoint(gain.repeated)
    assert sum(len(gain.new) for gain in gains) == sum(not cover.isdisjoint(selection) for cover in covers)
