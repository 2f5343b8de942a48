"""The retriever by a server's embeddings."""

from __future__ import annotations

from typing import Any

import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.llm.conversation import Planned, planned, stored
from evidencebench_core.retrievers import ServedRetriever
from evidencebench_core.retrievers.cosine import INSTRUCTIONS
from evidencebench_core.retrievers.llm.embeddings import Embeddings
from tests.retrievers.llm.stand_in import StandIn, query_over, retrieved

# The hypothesis points along x; cosines 0, 1, 0.6 (a 3-4-5 triangle), 1 and, for zeros, 0.
VECTORS = {"A.": [0, 1], "B.": [2, 0], "C.": [3, 4], "D.": [1, 0], "E.": [0, 0]}


def client() -> StandIn:
    return StandIn(embed=lambda text: VECTORS.get(text, [1, 0]))


def test_cosines_rank_and_ties_keep_paper_order() -> None:
    answer = retrieved(client(), Embeddings(model="e"), query_over(list(VECTORS), budget=2))
    assert answer.ranking == (1, 3, 2, 0, 4)
    assert answer.scores == (1.0, 1.0, 0.6, 0.0, 0.0)
    assert answer.selection == (1, 3)


@pytest.mark.parametrize(
    ("instruction", "focus", "used"),
    [("none", "all", "none"), ("auto", "all", "er"), ("auto", "results", "result"), ("er", "results", "er")],
)
def test_the_instruction_stands_before_the_hypothesis(instruction: Any, focus: str, used: str) -> None:
    server = client()
    retriever = Embeddings(model="e", instruction=instruction)
    answer = retrieved(server, retriever, query_over(["A."], hypothesis="It does.", focus=focus))
    assert server.texts == [INSTRUCTIONS[used] + "It does.", "A."]
    assert answer.details.get("instruction", "") == INSTRUCTIONS[used].strip()


def test_the_estimate_counts_what_the_store_does_not_have() -> None:
    server, made = client(), Embeddings(model="e")
    query = query_over([f"Sentence number {number:03}." for number in range(99)])
    # 100 texts in batches of 64 are two calls; the same query once more is none.
    seen: set[object] = set()
    first = planned(server, made.conversation(query), seen=seen)
    assert (first.calls, first.completion_tokens, server.texts) == (2, 0, [])
    # 20 characters, 5 tokens, 99 times; "Tea lowers blood pressure." has 26 characters: 7 tokens
    assert first.prompt_tokens == 99 * 5 + 7
    assert planned(server, made.conversation(query), seen=seen) == Planned()
    again, more = query_over(["A.", "B."]), query_over(["A.", "B.", "New."])
    assert stored(server, made.conversation(again)) is None
    asked = retrieved(server, made, again)
    assert stored(server, made.conversation(again)).ranking == asked.ranking
    # The hypothesis and two sentences are known; one of four characters is new: 1 token.
    assert planned(server, made.conversation(again)) == Planned(0, 3, 0)
    assert planned(server, made.conversation(more)) == Planned(1, 3, 1)
    assert planned(server, made.conversation(again), fresh=True).calls == 1


def test_it_asks_a_server_and_needs_a_model() -> None:
    assert isinstance(Embeddings(model="e"), ServedRetriever)
    with pytest.raises(SettingError, match="has no model"):
        Embeddings()
