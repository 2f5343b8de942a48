"""Where in a paper a search is met."""

from __future__ import annotations

import pytest

from evidencebench_core.data.hits import sentence_hits

TEA = ("Tea", "We asked 90 women about tea and sleep.", "Green tea lowered pressure.", "Pressure, green tea.")


@pytest.mark.parametrize(
    ("words", "sentence", "found"),
    [
        ("pressure tea", 2, ["tea", "pressure"]),  # of two with both words the first
        ('"green tea" press', 2, ["Green tea", "pressure"]),  # a phrase, and the beginning of a word
        ("sleep pressure tea", 1, ["tea", "sleep"]),  # no sentence has all three: the first of those with two
        ("TÉA ", 0, ["Tea"]),
    ],
)
def test_the_sentence_with_most_of_the_words_and_where_they_are(
    words: str, sentence: int, found: list[str]
) -> None:
    hits = sentence_hits({"tea": TEA, "salt": ("Salt.",)}, words)
    assert hits.keys() == {"tea"}
    assert hits["tea"].sentence == sentence
    assert "".join(part for part, _ in hits["tea"].parts) == TEA[sentence]
    assert [part for part, was_found in hits["tea"].parts if was_found] == found


def test_nothing_searched_nothing_found() -> None:
    assert sentence_hits({"a": TEA}, " -") == sentence_hits({"a": TEA}, "zebra") == {}
