"""The ledger of a selection, the marks of sentences, and what two selections share."""

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.metrics import Gain, aspect_recall, marginal_gains, marks, overlap

COVERS = st.lists(st.frozensets(st.integers(0, 8), max_size=4), max_size=7)
SELECTIONS = st.lists(st.integers(0, 8), max_size=12)


def test_ledger_by_hand() -> None:
    covers = [frozenset({2, 5}), frozenset({5}), frozenset({7}), frozenset({5, 7})]
    assert marginal_gains([5, 1, 7, 2], covers) == (
        Gain(5, new=(0, 1, 3), repeated=(), recall_so_far=3 / 4),
        Gain(1, new=(), repeated=(), recall_so_far=3 / 4),
        Gain(7, new=(2,), repeated=(3,), recall_so_far=1.0),
        Gain(2, new=(), repeated=(0,), recall_so_far=1.0),
    )
    assert marginal_gains([3, 3], [frozenset({3})])[1] == Gain(3, (), (0,), 1.0)
    assert marginal_gains([3], []) == (Gain(3, (), (), None),)
    assert marginal_gains([], [frozenset({3})]) == ()


@given(SELECTIONS, COVERS)
def test_the_running_recall_is_that_of_the_picks_so_far(
    selection: list[int], covers: list[frozenset[int]]
) -> None:
    gains = marginal_gains(selection, covers)
    assert [gain.sentence for gain in gains] == selection
    for end, gain in enumerate(gains, start=1):
        assert gain.recall_so_far == aspect_recall(selection[:end], covers)
        assert set(gain.new).isdisjoint(gain.repeated)
    so_far = [gain.recall_so_far or 0.0 for gain in gains]
    assert so_far == sorted(so_far)  # recall never falls when a sentence is added
    assert sum(len(gain.new) for gain in gains) == sum(not cover.isdisjoint(selection) for cover in covers)


# aspect 0 by 0, 1 and 2; aspect 1 by 2 and 3
COVERED = [frozenset({0, 1, 2}), frozenset({2, 3})]


def test_marks_by_hand() -> None:
    # 0 covers aspect 0; 5 covers nothing. Aspect 1 is missed, so its 2 and 3 are; 1 is gold only.
    assert marks([0, 5], COVERED, 7) == ("both", "gold", "missed", "missed", "none", "picked", "none")
    # A selection of nothing misses everything, no selection misses nothing.
    assert marks([], COVERED, 5) == ("missed",) * 4 + ("none",)
    assert marks(None, COVERED, 5) == ("gold",) * 4 + ("none",)


def test_overlap_by_hand() -> None:
    # As shares of the longer one; no share of two empty ones.
    pairs = [((1, 2, 3), (3, 4)), ((1, 2), (2, 1)), ((), (2,)), ((), ())]
    assert [overlap(*pair) for pair in pairs] == [1 / 3, 1.0, 0.0, None]
