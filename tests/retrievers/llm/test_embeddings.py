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
from tests.llm.server import Scripted, Step, answering, body, scripted
from tests.retrievers.llm.stand_in import query_over

# The hypothesis points along x; cosines 0, 1, 0.6 (a 3-4-5 triangle), 1 and, for zeros, 0.
VECTORS = {"A.": [0, 1], "B.": [2, 0], "C.": [3, 4], "D.": [1, 0], "E.": [0, 0]}


def vectors(request: dict[str, Any]) -> Step:
    rows = [{"index": i, "embedding": VECTORS.get(text, [1, 0])} for i, text in enumerate(request["input"])]
    return body(json.dumps({"data": rows, "usage": {"prompt_tokens": 5}}).encode())


def made(server: Scripted, folder: Path, fresh: bool = False, **settings: Any) -> Embeddings:
    client = LLM(Connection(server.url, "k"), AnswerCache(open_store(folder / "s.sqlite")))
    return Embeddings(model="e", **settings).connected(Session(client, fresh=fresh))


def test_cosines_rank_and_ties_keep_paper_order(tmp_path: Path) -> None:
    with scripted(answering(vectors)) as server:
        answer = made(server, tmp_path).retrieve(query_over(list(VECTORS), budget=2))
        assert answer.ranking == (1, 3, 2, 0, 4)
        assert answer.scores == (1.0, 1.0, 0.6, 0.0, 0.0)
        assert answer.selection == (1, 3)
        again = made(server, tmp_path).retrieve(query_over(list(VECTORS), budget=2))
        assert (again.ranking, again.scores) == (answer.ranking, answer.scores)
        assert len(server.requests) == 1  # the second time the store has them


@pytest.mark.parametrize(
    ("instruction", "focus", "used"),
    [("none", "all", "none"), ("auto", "all", "er"), ("auto", "results", "result"), ("er", "results", "er")],
)
def test_the_instruction_stands_before_the_hypothesis(
    tmp_path: Path, instruction: str, focus: str, used: str
) -> None:
    with scripted(answering(vectors)) as server:
        retriever = made(server, tmp_path, instruction=instruction)
        answer = retriever.retrieve(query_over(["A."], hypothesis="It does.", focus=focus))
        assert sorted(server.requests[0].json["input"]) == sorted([INSTRUCTIONS[used] + "It does.", "A."])
    assert answer.details.get("instruction", "") == INSTRUCTIONS[used].strip()


def test_the_estimate_counts_what_the_store_does_not_have(tmp_path: Path) -> None:
    with scripted(answering(vectors)) as server:
        retriever = made(server, tmp_path)
        query = query_over([f"Sentence number {number:03}." for number in range(99)])
        # 100 texts in batches of 64 are two calls; the same query once more is none.
        planned = retriever.rehearsed([query, query])
        assert (planned.calls, planned.completion_tokens, server.requests) == (2, 0, [])
        # 20 characters, 5 tokens, 99 times; "Tea lowers blood pressure." has 26 characters: 7 tokens
        assert planned.prompt_tokens == 99 * 5 + 7
        again, more = query_over(["A.", "B."]), query_over(["A.", "B.", "New."])
        retriever.retrieve(again)
        # The hypothesis and two sentences are known; one of four characters is new: 1 token.
        known, one_new = retriever.rehearsed([again]), retriever.rehearsed([more])
        assert (known.calls, known.cached, known.prompt_tokens) == (0, 3, 0)
        assert (one_new.calls, one_new.cached, one_new.prompt_tokens) == (1, 3, 1)
        fresh = made(server, tmp_path, fresh=True).rehearsed([again])
        assert (fresh.calls, fresh.cached) == (1, 0)
        assert len(server.requests) == 1


def test_it_asks_a_server_and_needs_a_model() -> None:
    assert isinstance(Embeddings(model="e"), ServedRetriever)
    with pytest.raises(SettingError, match="has no model"):
        Embeddings()
