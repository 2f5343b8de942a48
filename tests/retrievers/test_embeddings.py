"""The retriever by a server's embeddings."""

from __future__ import annotations

from typing import Any

import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import Retriever, ServedRetriever, make_retriever
from evidencebench_core.retrievers.dense import INSTRUCTIONS
from tests.retrievers.llm.stand_in import StandIn, query_over, retrieved

# The hypothesis points along x; cosines 0, 1, 0.6 (a 3-4-5 triangle), 1 and, for zeros, 0.
VECTORS = {"A.": [0, 1], "B.": [2, 0], "C.": [3, 4], "D.": [1, 0], "E.": [0, 0]}


def made(**settings: str) -> Retriever:
    return make_retriever("embeddings", {"model": "e", **settings})


def client() -> StandIn:
    return StandIn(vector=lambda text: VECTORS.get(text, [1, 0]))


def test_cosines_rank_and_ties_keep_paper_order() -> None:
    answer = retrieved(client(), made(), query_over(list(VECTORS), budget=2))
    assert answer.ranking == (1, 3, 2, 0, 4)
    assert answer.scores == (1.0, 1.0, 0.6, 0.0, 0.0)
    assert answer.selection == (1, 3)


@pytest.mark.parametrize(
    ("instruction", "focus", "used"),
    [("none", "all", "none"), ("auto", "all", "er"), ("auto", "results", "result"), ("er", "results", "er")],
)
def test_the_instruction_stands_before_the_hypothesis(instruction: Any, focus: str, used: str) -> None:
    server = client()
    retriever = made(instruction=instruction)
    answer = retrieved(server, retriever, query_over(["A."], hypothesis="It does.", focus=focus))
    assert server.texts == [INSTRUCTIONS[used] + "It does.", "A."]
    assert answer.details.get("instruction", "") == INSTRUCTIONS[used].strip()


def test_it_asks_a_server_and_needs_a_model() -> None:
    assert isinstance(made(), ServedRetriever)
    with pytest.raises(SettingError, match="has no model"):
        make_retriever("embeddings")
