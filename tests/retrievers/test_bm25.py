"""Scores of BM25 by hand."""

from math import log

import pytest

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
