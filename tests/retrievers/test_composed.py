"""Retrievers made of others: ranks merged, and the first sentences of one ranked again by a cross-encoder."""

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import composed, make_retriever, read_settings
from tests.retrievers.conftest import tiny_bert
from tests.retrievers.queries import make_query

QUERY = make_query(["tea", "milk", "tea tea tea", "rice", "tea tea"], hypothesis="tea", budget=3)


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    # lead: a 1, b 2, c 3, d 4. abstract-tail (abstract: b, c) gives c, b, a, d: a 3, b 2, c 1, d 4.
    # With k = 1: a 1/2 + 1/4 = 0.75, b 1/3 + 1/3 = 0.667, c 1/4 + 1/2 = 0.75, d 1/5 + 1/5 = 0.4; a and c tie.
    hybrid = make_retriever("hybrid", {"of": "lead,abstract-tail", "k": 1})
    retrieval = hybrid.retrieve(make_query("abcd", "naan", budget=3))
    assert retrieval.ranking == (0, 2, 1, 3)
    assert retrieval.scores == pytest.approx([0.75, 0.75, 2 / 3, 0.4])
    assert retrieval.selection == (0, 2, 1)


def test_the_order_of_members_changes_nothing() -> None:
    for of in ("lead,bm25", ("bm25", "lead")):
        assert read_settings("hybrid", {"of": of}).values() == {"of": ("bm25", "lead"), "k": 60.0}


def test_the_whole_paper_or_the_first_of_another_retriever(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[tuple[str, str]] = []

    def predict(these: Sequence[tuple[str, str]], **_: object) -> list[float]:
        pairs.extend(these)
        return [-float(len(sentence)) for _, sentence in these]  # the shorter the better

    monkeypatch.setattr(composed, "load_encoder", lambda *_: Mock(predict=predict))
    whole = make_retriever("rerank", {"model": "minilm"}).retrieve(QUERY)
    assert pairs == [("tea", sentence) for sentence in QUERY.sentences]
    assert (whole.ranking, whole.scores) == ((0, 1, 3, 4, 2), (-3.0, -4.0, -4.0, -7.0, -11.0))
    assert whole.selection == (0, 1, 3)
    # abstract-tail ranks 4, 2, 0, 1, 3: the first three are ranked again, behind them stand the others
    retriever = make_retriever("rerank", {"model": "minilm", "of": "abstract-tail", "n": 3})
    first = retriever.retrieve(make_query(QUERY.sentences, "nnana", "tea"))
    assert [sentence for _, sentence in pairs[5:]] == ["tea tea", "tea tea tea", "tea"]
    assert first.ranking == (0, 4, 2, 1, 3)
    assert list(first.scores) == sorted(first.scores, reverse=True)
    assert retriever.retrieve(make_query([])).ranking == ()


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
