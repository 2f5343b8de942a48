"""What holds for all of them, on the oddest of papers."""

from dataclasses import replace
from itertools import product
from unittest.mock import Mock

import pytest

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.retrievers import RETRIEVERS, Query, composed, make_retriever
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.retrievers.queries import make_query
from tests.retrievers.ranker.made_up import small_model

pytestmark = [
    pytest.mark.parametrize("name", [name for name, entry in RETRIEVERS.items() if not entry.asks_server]),
    pytest.mark.usefixtures("no_real_model"),
]
SETTINGS = {"rerank": {"model": "minilm"}}
CHOOSING = {"structure": 30, "evidence-ranker": 30}  # picks that are chosen one by one, whatever their scores
ODD_PAPERS = {
    "one sentence": ["Only this."],
    "no words": ["...", "—", "?!"],
    "empty strings": ["", " ", ""],
    "all the same": ["Same."] * 7,
    "very long": ["word " * 1000, "x" * 5_000, "short"],
    "astral and right to left": ["\U0001d54f \U0001f9ec", "שלום עולם", "\ud800", "$\\alpha$ <script>", "\0"],
}
ODD_HYPOTHESES = ("", "?!", "Nothing shared here at all", "\ud800\U0001f9ec", "long " * 1000)


@pytest.fixture
def no_real_model(encoded_texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder of 32 dimensions, a trained ranker of as many, and a cross-encoder that likes long sentences."""
    scorer = Mock(predict=lambda pairs, **_: [len(sentence) for _, sentence in pairs])
    monkeypatch.setattr(composed, "load_encoder", lambda *_: scorer)
    write_model(small_model(width=32), default_model_path())


def check_answer(name: str, query: Query) -> None:
    """The answer ranks every sentence once, selects the best, and is the same again."""
    n_sentences = len(query.sentences)
    gold = EvidenceSet(n_sentences, (Aspect("p", (n_sentences - 1,), True, "A1"),), 1, 1)
    made = make_retriever(name, SETTINGS.get(name), gold=gold)
    retrieval = made.retrieve(query)
    assert sorted(retrieval.ranking) == list(range(n_sentences))
    n_chosen = max(CHOOSING[name], query.budget or 0) if name in CHOOSING else 0
    assert list(retrieval.scores[n_chosen:]) == sorted(retrieval.scores[n_chosen:], reverse=True)
    assert len(retrieval.scores) == n_sentences
    n_picks = n_sentences if query.budget is None else min(query.budget, n_sentences)
    if name == "oracle":
        n_picks = min(n_picks, 1)  # one sentence is all that its gold needs
    assert retrieval.selection == retrieval.ranking[:n_picks]
    assert replace(made.retrieve(query), seconds=0.0) == replace(retrieval, seconds=0.0)


def test_odd_papers_and_hypotheses(name: str) -> None:
    for paper, hypothesis, budget in product(ODD_PAPERS.values(), ODD_HYPOTHESES, (1, None)):
        for focus in ("all", "results"):
            check_answer(name, make_query(paper, hypothesis=hypothesis, budget=budget, focus=focus))
