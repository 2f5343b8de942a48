"""The words that a sentence shares with the hypothesis, and what they add to its score."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.browse.shared_words import shared_words
from evidencebench_core.retrievers import make_retriever
from tests.retrievers.queries import make_query
from tests.retrievers.test_bm25 import BY_HAND, PAPER


def test_each_word_says_what_it_adds() -> None:
    # A word counts each time that the hypothesis has it; "and" stands in no hypothesis.
    found = shared_words(make_query(PAPER, hypothesis="Cancer, smoking; xyz? Smoking!"), BY_HAND)
    assert found.by == "bm25"
    first, _, third, *others = found.sentences
    assert third == [(0, 7, pytest.approx(2 * log(1.4) * 0.9)), (20, 26, pytest.approx(log(3) * 0.9))]
    assert first == [(0, 7, pytest.approx(2 * log(1.4) * 3 / (2 + 2 / 3)))]
    assert others == [[], []]
    found = shared_words(make_query(PAPER, hypothesis="All cats and dogs"), make_retriever("lead", {}))
    assert (found.by, found.sentences) == ("", ([], [(0, 4, 1.0)], [], [(0, 4, 1.0)], []))


WORDS = ["cat", "Cat", "DOG", "İl-6", "no", "the", "Σας", "—", "𝔘", " "]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
PAPERS = st.lists(TEXTS, min_size=1, max_size=8)


@given(PAPERS, TEXTS, st.sampled_from([0.0, 1.5, 3.0]), st.sampled_from([0.0, 0.75, 1.0]))
def test_weights_of_a_sentence_add_up(paper: list[str], hypothesis: str, k1: float, b: float) -> None:
    bm25 = make_retriever("bm25", {"k1": k1, "b": b})
    query = make_query(paper, hypothesis=hypothesis)
    answer = bm25.retrieve(query)
    sums = [sum(weight for _, _, weight in sentence) for sentence in shared_words(query, bm25).sentences]
    assert [sums[index] for index in answer.ranking] == pytest.approx(answer.scores, abs=1e-9)
