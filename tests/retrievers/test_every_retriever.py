"""What holds for all of them, on the oddest of papers."""

from itertools import product
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.retrievers import RETRIEVERS, Query, Retrieval, make_retriever, rerank
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
    monkeypatch.setattr(rerank, "load_cross_encoder", lambda _: scorer)
    write_model(small_model(width=32), default_model_path())


def checked_answer(name: str, query: Query) -> Retrieval:
    """The answer to a query, which ranks every sentence once and selects the best."""
    n_sentences = len(query.sentences)
    gold = EvidenceSet(n_sentences, (Aspect("p", (n_sentences - 1,), True, "A1"),), 1, 1)
    retrieval = make_retriever(name, SETTINGS.get(name), gold=gold).retrieve(query)
    assert sorted(retrieval.ranking) == list(range(n_sentences))
    n_chosen = max(CHOOSING[name], query.budget or 0) if name in CHOOSING else 0
    assert list(retrieval.scores[n_chosen:]) == sorted(retrieval.scores[n_chosen:], reverse=True)
    assert len(retrieval.scores) == n_sentences
    n_picks = n_sentences if query.budget is None else min(query.budget, n_sentences)
    if name == "oracle":
        n_picks = min(n_picks, 1)  # one sentence is all that its gold needs
    assert retrieval.selection == retrieval.ranking[:n_picks]
    return retrieval


def test_odd_papers_and_hypotheses(name: str) -> None:
    for paper, hypothesis, budget in product(ODD_PAPERS.values(), ODD_HYPOTHESES, (1, None)):
        for focus in ("all", "results"):
            checked_answer(name, make_query(paper, hypothesis=hypothesis, budget=budget, focus=focus))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    sentences=st.lists(st.text(alphabet="ab .é", max_size=12), min_size=1, max_size=40),
    hypothesis=st.text(alphabet="ab .é", max_size=12),
    budget=st.one_of(st.none(), st.integers(0, 15)),
)
def test_the_same_query_has_the_same_answer(
    name: str, sentences: list[str], hypothesis: str, budget: int | None
) -> None:
    query = make_query(sentences, hypothesis=hypothesis, budget=budget)
    one, again = checked_answer(name, query), checked_answer(name, query)
    assert (again.ranking, again.scores, again.selection) == (one.ranking, one.scores, one.selection)
