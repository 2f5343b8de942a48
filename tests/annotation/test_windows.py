"""Windows, what the answers about them add up to, and the echo check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.annotation.windows import (
    WindowAnswer,
    covering_sentences,
    echo_check,
    echo_lines,
    unjudged_sentences,
    windows,
)


def test_windows_by_hand() -> None:
    assert windows(23) == ((0, 10), (5, 15), (10, 20), (15, 23), (20, 23))
    assert windows(6) == ((0, 6), (5, 6))
    assert windows(5) == ((0, 5),)
    assert windows(0) == ()


@given(st.integers(1, 400))
def test_every_sentence_but_the_first_five_is_shown_twice(n: int) -> None:
    shown = [sum(start <= index < stop for start, stop in windows(n)) for index in range(n)]
    assert shown == [1 if index < 5 else 2 for index in range(n)]


def answers(*sentences: list[int] | None) -> list[WindowAnswer]:
    return [
        WindowAnswer(window, frozenset(found or ()), found is None)
        for window, found in zip(windows(23), sentences, strict=True)
    ]


def test_an_answer_that_is_missing_is_not_a_no() -> None:
    whole = answers([3, 7], [7, 9], [], [19], [22])
    assert covering_sentences(whole) == (3, 7, 9, 19, 22)
    assert unjudged_sentences(23, whole) == ()
    one_failed = answers([3, 7], [7, 9], None, [19], [22])
    assert unjudged_sentences(23, one_failed) == ()  # its neighbours show all that it shows
    two_failed = answers([3, 7], [7, 9], None, None, [22])
    assert unjudged_sentences(23, two_failed) == (15, 16, 17, 18, 19)
    assert unjudged_sentences(23, answers(None, [7], [], [], [])) == (0, 1, 2, 3, 4)


SENTENCES = [f"Word{index} alpha beta gamma delta epsilon." for index in range(20)]


@pytest.mark.parametrize(
    "line",
    ["6: Word6 alpha beta", "Index 6: words", "- **S6**: words", "`6`: words", "6 - words", "[6] : words"],
)
def test_forms_of_an_echo(line: str) -> None:
    assert list(echo_lines(f"Reasons follow.\n{line}\nDECISION: [6]")) == [6]


def test_an_index_that_counts_within_the_window_is_corrected() -> None:
    window = (5, 15)
    right = {7: "Word7 alpha beta gamma delta - why"}
    assert echo_check(SENTENCES, window, [7], right).chosen == (7,)
    distinct = [" ".join(f"{name}{place}" for place in range(5)) for name in "abcdefghijklmnopqrst"]
    assert echo_check(distinct, window, [2], {2: "h0 h1 h2"}).chosen == (7,)
    assert echo_check(distinct, window, [6], {6: "nothing of this kind"}).not_found == (6,)
    assert echo_check(distinct, window, [6], {}).chosen == (6,)  # without words it stays


@given(st.text(max_size=300), st.lists(st.integers(-3, 30), max_size=8))
def test_whatever_is_answered_only_sentences_of_the_window_stand(text: str, chosen: list[int]) -> None:
    check = echo_check(SENTENCES, (5, 15), chosen, echo_lines(text))
    assert set(check.chosen) <= set(range(5, 15))
    assert list(check.chosen) == sorted(set(check.chosen))
