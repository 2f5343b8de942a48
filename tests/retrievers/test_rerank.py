"""A cross-encoder over a paper, and over the first sentences of another retriever."""

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers import make_retriever, rerank
from tests.retrievers.conftest import tiny_bert
from tests.retrievers.queries import make_query

QUERY = make_query(["tea", "milk", "tea tea tea", "water", "rice", "tea tea", "no salt"], hypothesis="tea", budget=3)


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What went to the model, which is replaced by one that likes short sentences."""
    seen: list[tuple[str, str]] = []

    def predict(pairs: Sequence[tuple[str, str]], **_: object) -> list[float]:
        seen.extend(pairs)
        return [-float(len(sentence)) for _, sentence in pairs]

    monkeypatch.setattr(rerank, "load_cross_encoder", lambda _: Mock(predict=predict))
    return seen


def test_the_whole_paper_without_another_retriever(pairs: list[tuple[str, str]]) -> None:
    retrieval = make_retriever("rerank", {"model": "minilm"}).retrieve(QUERY)
    assert pairs == [("tea", sentence) for sentence in QUERY.sentences]
    assert (retrieval.ranking, retrieval.scores) == ((0, 1, 4, 3, 5, 6, 2), (-3.0, -4.0, -4.0, -5.0, -7.0, -7.0, -11.0))
    assert retrieval.selection == (0, 1, 4)


def test_the_first_of_another_retriever_then_its_others_in_its_order(pairs: list[tuple[str, str]]) -> None:
    # by bm25 the more often "tea" stands in a sentence the better: 2, 5, 0, then the others as they stand
    retriever = make_retriever("rerank", {"model": "minilm", "of": "bm25", "n": 2})
    assert set(retriever.basis) == {"model"}
    retrieval = retriever.retrieve(QUERY)
    assert [sentence for _, sentence in pairs] == ["tea tea tea", "tea tea"]
    assert retrieval.ranking == (5, 2, 0, 1, 3, 4, 6)
    assert list(retrieval.scores) == sorted(retrieval.scores, reverse=True)
    assert retriever.retrieve(make_query([])).ranking == ()


@pytest.mark.parametrize(
    "settings", [{}, {"model": "minilm", "of": "bm25,lead"}, {"model": "minilm", "n": 0}, {"of": "hybrid"}]
)
def test_settings_that_cannot_be(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        make_retriever("rerank", settings)


@pytest.mark.slow
@pytest.mark.model
def test_scores_are_those_of_the_model(tmp_path: Path) -> None:
    import torch
    from transformers import BertForSequenceClassification, BertTokenizerFast

    folder = tiny_bert(tmp_path / "reader", "BertForSequenceClassification", num_labels=1)
    query = make_query(["one", "two three", "four four"], hypothesis="h t")
    inputs = BertTokenizerFast.from_pretrained(folder)(
        ["h t"] * 3, list(query.sentences), return_tensors="pt", padding=True
    )
    with torch.no_grad():
        logits = BertForSequenceClassification.from_pretrained(folder).eval()(**inputs).logits
    expected = torch.sigmoid(logits).flatten().tolist()
    retrieval = make_retriever("rerank", {"model": str(folder)}).retrieve(query)
    assert retrieval.scores == pytest.approx(sorted(expected, reverse=True), abs=1e-6)
    assert [expected[index] for index in retrieval.ranking] == pytest.approx(retrieval.scores, abs=1e-6)
    classes = tiny_bert(tmp_path / "classes", "BertForSequenceClassification", num_labels=3)
    with pytest.raises(RetrieverError):
        make_retriever("rerank", {"model": str(classes)}).retrieve(query)
