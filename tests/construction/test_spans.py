"""Quotes to sentences: rule 107 and example 105."""

from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.construction import QuoteFinder, sentences_in


def test_half_of_the_sentence_or_of_the_span() -> None:
    extents = [(0, 20), (21, 60)]
    assert sentences_in(extents, (5, 30)) == (0,)  # 15/20 of the first; 9/39 and 9/25 of the second
    assert sentences_in(extents, (10, 20)) == (0,)  # exactly half of it
    assert sentences_in(extents, (11, 31)) == (
        1,
    )  # 9/20 and 9/20; of the second 10/39, but 10/20 of the span
    assert sentences_in(extents, (60, 70)) == ()


def test_letters_and_digits_are_compared() -> None:
    finder = QuoteFinder(("The dose (5 mg) rose.", "It fell", "", "The dose (5 mg) rose."))
    assert finder.find("dose 5-MG rose") == (0,)  # the first occurrence
    assert finder.find("rose. It fell") == (1,)  # 4 of 14 letters of the first
    assert finder.find("never") == finder.find("…") == finder.find("") == ()


@given(st.lists(st.text(max_size=20), max_size=8), st.data())
def test_a_whole_sentence_is_found_in_itself(sentences: list[str], data: st.DataObject) -> None:
    finder = QuoteFinder(sentences)
    index = data.draw(st.integers(0, len(sentences))) if sentences else 0
    quote = "".join(sentences[index : index + 1])
    found = finder.find(quote)
    assert (len(found) >= 1) == any(map(str.isalnum, quote.casefold())) or len(found) == 0
    assert all(0 <= one < len(sentences) for one in found)
