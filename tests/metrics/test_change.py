"""What another selection keeps, gains and loses."""

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.metrics import Change, aspect_recall, selection_change

# A1 is covered by 1 and 4, A2 by 2, A3 by 3, A4 by none
COVERS = (frozenset({1, 4}), frozenset({2}), frozenset({3}), frozenset[int]())
PICKS = st.lists(st.integers(0, 6), max_size=8)


def test_sentences_and_aspects_by_hand() -> None:
    # 2 and 1 go, 4 and 3 come, 0 stays: A1 stays covered (by 4), A2 is lost, A3 gained
    change = selection_change((2, 0, 1), (4, 3, 0, 4), COVERS)
    assert change == Change(kept=(0,), gained=(4, 3), lost=(2, 1), aspects_gained=(2,), aspects_lost=(1,))
    assert selection_change((), (1,), ()) == Change((), (1,), (), (), ())


@given(PICKS, PICKS)
def test_the_parts_make_up_both_selections_and_their_recall(before: list[int], after: list[int]) -> None:
    change = selection_change(before, after, COVERS)
    assert {*change.kept, *change.lost} == set(before)
    assert {*change.kept, *change.gained} == set(after)
    then, now = (aspect_recall(picks, COVERS) or 0 for picks in (before, after))
    assert round((now - then) * len(COVERS)) == len(change.aspects_gained) - len(change.aspects_lost)
