"""Scores of BM25 by hand, and the words shared with the hypothesis that make them up."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.export.shared_words import SharedWord, shared_words
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.bm25 import Tokenisation, tokens_of
from tests.retrievers.queries import make_query

# Words: 2, 5, 4, 2, 2: 15 in 5 sentences, average 3. "cancer" is in one sentence (index 2):
# idf = ln(5 - 1 + 0.5) - ln(1 + 0.5) = ln 3; "smoking" in two: ln(3.5 / 2.5) = ln 1.4; "xyz" in none.
# With k1 = 2, b = 0.5 a word that occurs once in a sentence of length d weighs
#   idf * (1 * 3) / (1 + 2 * (1 - 0.5 + 0.5 * d / 3)) = idf * 3 / (2 + d / 3).
PAPER = (
    "Smoking harms.",
    "Cats sleep all day long.",
    "Smoking and bladder cancer.",
    "Dogs bark.",
    "Birds sing.",
)
BY_HAND = make_retriever("bm25", {"k1": 2, "b": 0.5})


def test_scores_are_okapi_bm25() -> None:
    retrieval = BY_HAND.retrieve(make_query(PAPER, hypothesis="Cancer, smoking; xyz?", budget=2))
    assert retrieval.ranking == (2, 0, 1, 3, 4)
    expected = [(log(3) + log(1.4)) * 3 / (2 + 4 / 3), log(1.4) * 3 / (2 + 2 / 3), 0.0, 0.0, 0.0]
    assert retrieval.scores == pytest.approx(expected)
    assert retrieval.selection == (2, 0)


def test_each_word_says_what_it_adds() -> None:
    # A word counts each time that the hypothesis has it; "and" stands in no hypothesis.
    found = shared_words(make_query(PAPER, hypothesis="Cancer, smoking; xyz? Smoking!"), BY_HAND)
    assert found.scored_by == "bm25"
    first, _, third, *others = found.sentences
    assert [(word.start, word.end) for word in third] == [(0, 7), (20, 26)]
    assert [word.weight for word in third] == pytest.approx([2 * log(1.4) * 0.9, log(3) * 0.9])
    assert first == (SharedWord(0, 7, pytest.approx(2 * log(1.4) * 3 / (2 + 2 / 3))),)
    assert others == [(), ()]


def test_for_other_retrievers_every_word_but_function_words_weighs_one() -> None:
    found = shared_words(make_query(PAPER, hypothesis="All cats and dogs"), make_retriever("lead", {}))
    assert found.scored_by == ""
    assert found.sentences == ((), (SharedWord(0, 4, 1.0),), (), (SharedWord(0, 4, 1.0),), ())


def test_k1_of_zero_counts_presence_only() -> None:
    paper = ("cat cat cat cat", "cat", "dog", "emu", "fox")
    scores = make_retriever("bm25", {"k1": 0}).retrieve(make_query(paper, hypothesis="cat dog")).scores
    # idf of cat: ln(3.5 / 2.5), of dog: ln(4.5 / 1.5); without saturation both cat sentences are equal
    assert scores == pytest.approx([log(3), log(1.4), log(1.4), 0, 0], abs=1e-6)
    # A sentence without words scores zero, also at full length discount.
    query = make_query(("", "cat", "dog", "—"), hypothesis="cat")
    retrieval = make_retriever("bm25", {"b": 1}).retrieve(query)
    assert retrieval.ranking == (1, 0, 2, 3)
    assert retrieval.scores[1:] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("tokenisation", "tokens"),
    [("word", ["the", "il", "6", "was", "not", "étude_1"]), ("word-stop", ["il", "6", "not", "étude_1"])],
)
def test_tokens(tokenisation: Tokenisation, tokens: list[str]) -> None:
    assert tokens_of("The IL-6 was NOT Étude_1!", tokenisation) == tokens


WORDS = ["cat", "Cat", "DOG", "İl-6", "no", "the", "Σας", "—", "𝔘", " "]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@given(
    paper=st.lists(TEXTS, min_size=1, max_size=8),
    hypothesis=TEXTS,
    k1=st.sampled_from([0.0, 1.5, 3.0]),
    b=st.sampled_from([0.0, 0.75, 1.0]),
)
def test_the_weights_of_a_sentence_add_up_to_its_score(
    paper: list[str], hypothesis: str, k1: float, b: float
) -> None:
    bm25 = make_retriever("bm25", {"k1": k1, "b": b})
    query = make_query(paper, hypothesis=hypothesis)
    answer = bm25.retrieve(query)
    sums = [sum(word.weight for word in sentence) for sentence in shared_words(query, bm25).sentences]
    assert [sums[index] for index in answer.ranking] == pytest.approx(answer.scores, abs=1e-9)
