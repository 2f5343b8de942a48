"""The retriever by a server's embeddings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, AnswerCache, Connection
from evidencebench_core.retrievers import ServedRetriever
from evidencebench_core.retrievers.cosine import INSTRUCTIONS
from evidencebench_core.retrievers.llm import Session
from evidencebench_core.retrievers.llm.embeddings import Embeddings
from tests.llm.server import Step, answering, body, scripted
from tests.retrievers.llm.stand_in import query_over

# The hypothesis points along x; cosines 0, 1, 0.6 (a 3-4-5 triangle), 1 and, for zeros, 0.
VECTORS = {"A.": [0, 1], "B.": [2, 0], "C.": [3, 4], "D.": [1, 0], "E.": [0, 0]}


def vectors(request: dict[str, Any]) -> Step:
    rows = [{"index": i, "embedding": VECTORS.get(text, [1, 0])} for i, text in enumerate(request["input"])]
    return body(json.dumps({"data": rows, "usage": {"prompt_tokens": 5}}).encode())


def test_cosines_rank_and_ties_keep_paper_order(tmp_path: Path) -> None:
    with scripted(answering(vectors)) as server:
        client = LLM(Connection(server.url, "k"), AnswerCache(open_store(tmp_path / "s.sqlite")))
        made = Embeddings(model="e").connected(Session(client))
        answer = made.retrieve(query_over(list(VECTORS), budget=2))
        assert answer.ranking == (1, 3, 2, 0, 4)
        assert answer.scores == (1.0, 1.0, 0.6, 0.0, 0.0)
        assert answer.selection == (1, 3)
        assert made.retrieve(query_over(list(VECTORS), budget=2)).ranking == answer.ranking
        assert len(server.requests) == 1  # the second time the store has them


@pytest.mark.parametrize(
    ("instruction", "focus", "used"),
    [("none", "all", "none"), ("auto", "all", "er"), ("auto", "results", "result"), ("er", "results", "er")],
)
def test_the_instruction_stands_before_the_hypothesis(instruction: Any, focus: str, used: str) -> None:
    with scripted(answering(vectors)) as server:
        made = Embeddings(model="e", instruction=instruction).connected(Session(LLM(Connection(server.url))))
        answer = made.retrieve(query_over(["A."], hypothesis="It does.", focus=focus))
        assert sorted(server.requests[0].json["input"]) == sorted([INSTRUCTIONS[used] + "It does.", "A."])
    assert answer.details.get("instruction", "") == INSTRUCTIONS[used].strip()


def test_what_it_will_take() -> None:
    with scripted(answering(vectors)) as server:
        made = Embeddings(model="e").connected(Session(LLM(Connection(server.url))))
        query = query_over([f"Sentence number {number:03}." for number in range(99)])
        # 100 texts in batches of 64 are two calls; the same query once more is none.
        planned = made.rehearsed([query, query])
        assert server.requests == []
    assert (planned.calls, planned.completion_tokens) == (2, 0)
    # 20 characters, 5 tokens, 99 times; "Tea lowers blood pressure." has 26 characters: 7 tokens
    assert planned.prompt_tokens == 99 * 5 + 7


def test_what_the_store_has_is_not_to_be_paid(tmp_path: Path) -> None:
    with scripted(answering(vectors)) as server:
        client = LLM(Connection(server.url, "k"), AnswerCache(open_store(tmp_path / "s.sqlite")))
        made = Embeddings(model="e").connected(Session(client))
        made.retrieve(query_over(["A.", "B."]))
        # The hypothesis and two sentences are known; one of four characters is new: 1 token.
        again, more = query_over(["A.", "B."]), query_over(["A.", "B.", "New."])
        known = made.rehearsed([again])
        assert (known.calls, known.cached, known.prompt_tokens) == (0, 3, 0)
        one_new = made.rehearsed([more])
        assert (one_new.calls, one_new.cached, one_new.prompt_tokens) == (1, 3, 1)
        fresh = Embeddings(model="e").connected(Session(client, fresh=True)).rehearsed([again])
        assert (fresh.calls, fresh.cached) == (1, 0)
        assert len(server.requests) == 1


def test_it_asks_a_server_and_needs_a_model() -> None:
    assert isinstance(Embeddings(model="e"), ServedRetriever)
    with pytest.raises(SettingError, match="has no model"):
        Embeddings()
