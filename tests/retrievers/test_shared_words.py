"""Words shared with the hypothesis: where they stand, and what each adds to the score."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.shared_words import SharedWord, shared_words
from tests.retrievers.queries import make_query

PAPER = (
    "Smoking harms.",
    "Cats sleep all day long.",
    "Smoking and bladder cancer.",
    "Dogs bark.",
    "Birds sing.",
)


def test_bm25_says_what_each_word_adds() -> None:
    # By hand as in test_bm25: with k1 = 2 and b = 0.5 a word in a sentence of d words weighs idf * 3 / (2 + d / 3)
    # for each time that the hypothesis has it; idf is ln 3 for "cancer", ln 1.4 for "smoking". "and" is in one
    # sentence only and in no hypothesis.
    query = make_query(PAPER, hypothesis="Cancer, smoking; xyz? Smoking!")
    found = shared_words(query, make_retriever("bm25", {"k1": 2, "b": 0.5}))
    assert found.scored_by == "bm25"
    first, _, third, *others = found.sentences
    assert [(word.start, word.end) for word in third] == [(0, 7), (20, 26)]
    assert [word.weight for word in third] == pytest.approx([2 * log(1.4) * 0.9, log(3) * 0.9])
    assert first == (SharedWord(0, 7, pytest.approx(2 * log(1.4) * 3 / (2 + 2 / 3))),)
    assert others == [(), ()]


def test_for_others_every_word_but_function_words_weighs_one() -> None:
    found = shared_words(make_query(PAPER, hypothesis="All cats and dogs"), make_retriever("lead", {}))
    assert found.scored_by == ""
    assert found.sentences == ((), (SharedWord(0, 4, 1.0),), (), (SharedWord(0, 4, 1.0),), ())


TEXTS = st.lists(
    st.sampled_from(["cat", "Cat", "DOG", "İl-6", "no", "the", "Σας", "—", "𝔘", " "]), max_size=12
)


@given(
    paper=st.lists(TEXTS.map(" ".join), min_size=1, max_size=8),
    hypothesis=TEXTS.map(" ".join),
    k1=st.sampled_from([0.0, 1.5, 3.0]),
    b=st.sampled_from([0.0, 0.75, 1.0]),
)
def test_the_weights_of_a_sentence_add_up_to_its_score(
    paper: list[str], hypothesis: str, k1: float, b: float
) -> None:
    bm25 = make_retriever("bm25", {"k1": k1, "b": b})
    query = make_query(tuple(paper), hypothesis=hypothesis, budget=None)
    answer = bm25.retrieve(query)
    sums = [sum(word.weight for word in sentence) for sentence in shared_words(query, bm25).sentences]
    assert [sums[index] for index in answer.ranking] == pytest.approx(answer.scores, abs=1e-9)
