"""Two wordings side by side: which words differ, and that marks are all that is added to the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wording.review import changed_words, marked_words

WORDS = st.lists(st.sampled_from(["tea", "lowers", "raises", "IL-6", "in", "(mice)"]), max_size=12).map(
    " ".join
)


@pytest.mark.parametrize(
    ("original", "draft", "before", "after"),
    [
        ("Tea lowers pressure.", "Tea raises pressure.", (0, 1, 0), (0, 1, 0)),
        # Case and punctuation around a word are no change.
        ("Tea, in mice, helps.", "tea in mice helps", (0, 0, 0, 0), (0, 0, 0, 0)),
        ("IL-6 drives it.", "Interleukin 6 drives it.", (1, 0, 0), (1, 1, 0, 0)),
        ("", "New words", (), (1, 1)),
        ("- a", "+ a", (1, 0), (1, 0)),  # a sign on its own is a word
    ],
)
def test_words_that_differ(
    original: str, draft: str, before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    assert changed_words(original, draft) == (tuple(map(bool, before)), tuple(map(bool, after)))


@given(WORDS, WORDS)
def test_what_is_not_marked_is_the_same_in_both(original: str, draft: str) -> None:
    before, after = changed_words(original, draft)
    same = [word for word, mark in zip(original.split(), before, strict=True) if not mark]
    assert same == [word for word, mark in zip(draft.split(), after, strict=True) if not mark]


@given(WORDS)
def test_the_same_text_has_no_marks(text: str) -> None:
    before, after = marked_words(text, text)
    assert before == after
    assert "background" not in before


def test_neighbours_are_marked_together_and_markup_is_only_letters() -> None:
    before, after = marked_words("It is so.", "It may not be so.")
    assert before == r"It :gray-background[**is**] so\."
    assert after == r"It :orange-background[**may not be**] so\."
    _, marked = marked_words("Tea helps.", "Tea ]**](http://x.org/a.png) :red[x] helps.")
    assert r"\]\*\*\]\(" in marked
    assert r"\:red\[x\]" in marked


def test_very_long_texts_are_shown_without_marks() -> None:
    before, after = changed_words("a " * 600, "b " * 600)
    assert (len(before), any(before), any(after)) == (600, False, False)
