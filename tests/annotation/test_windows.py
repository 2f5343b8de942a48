"""Windows, and the echo check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.annotation.propose import echoed_sentences, windows


def test_windows_by_hand() -> None:
    assert windows(23) == ((0, 10), (5, 15), (10, 20), (15, 23), (20, 23))
    assert (windows(5), windows(0)) == (((0, 5),), ())


@given(st.integers(1, 400))
def test_every_sentence_but_the_first_five_is_shown_twice(n: int) -> None:
    shown = [sum(start <= index < stop for start, stop in windows(n)) for index in range(n)]
    assert shown == [1 if index < 5 else 2 for index in range(n)]


SENTENCES = [f"Word{n} beta{n} gamma{n} delta{n} epsilon{n}." for n in range(20)]


@pytest.mark.parametrize(
    ("chosen", "echoes", "meant"),
    [
        ([7], {7: "Word7 beta7 gamma7 - why"}, {7}),
        ([2], {2: "word7 beta7 gamma7"}, {7}),  # counted within the window
        ([6, 7], {6: "nothing of this kind"}, None),
        ([6, 17], {}, {6}),  # without words one stays, and one beyond the window does not
        ([17], {17: "Word17 beta17 gamma17"}, None),
    ],
)
def test_words_beside_an_index_say_which_sentence_is_meant(
    chosen: list[int], echoes: dict[int, str], meant: set[int] | None
) -> None:
    assert echoed_sentences(SENTENCES, (5, 15), chosen, echoes) == meant


@given(st.lists(st.integers(-3, 30), max_size=8), st.dictionaries(st.integers(-3, 30), st.text(max_size=50)))
def test_whatever_is_answered_only_sentences_of_the_window_are_meant(
    chosen: list[int], echoes: dict[int, str]
) -> None:
    meant = echoed_sentences(SENTENCES, (5, 15), chosen, echoes)
    assert (meant or set()) <= set(range(5, 15))
