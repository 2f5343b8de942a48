"""The sentence that a search meets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.browse.matches import best_sentence

SYNTAX = st.text(alphabet="ab\"'*:^()+-{}\\ \x00é\u0301中\u200dANDORNEAR", max_size=20)


@given(typed=st.text(max_size=20) | SYNTAX)
def test_nothing_that_is_typed_is_a_syntax_error(typed: str) -> None:
    assert best_sentence(["a"], typed) in (0, None)


TEA = ("Tea", "We asked 90 women about tea and sleep.", "Green tea lowered pressure.", "Pressure, green tea.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("pressure tea", 2),  # of two with both words the first
        ('"green tea" press', 2),  # a phrase, and the beginning of a word
        ("sleep pressure tea", 1),  # no sentence has all three: the first of those with two
        ("TÉA ", 0),
        (" -", None),
        ("zebra", None),
    ],
)
def test_the_sentence_with_most_of_the_words(words: str, sentence: int | None) -> None:
    assert best_sentence(TEA, words) == sentence
