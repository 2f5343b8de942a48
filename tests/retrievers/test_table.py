import json

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import IMPORTED, RETRIEVERS, make_retriever, read_settings, run_label
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.retrievers.ranker.made_up import small_model


def test_a_retriever_has_its_full_settings_and_they_survive_json() -> None:
    assert [name for name, entry in RETRIEVERS.items() if entry.sees_gold] == ["oracle"]
    assert [name for name, entry in RETRIEVERS.items() if entry.asks_server] == ["llm", "embeddings"]
    write_model(small_model(), default_model_path())
    for name in RETRIEVERS:
        given = {"model": "minilm"} if name in ("rerank", "llm", "embeddings") else {}
        retriever = make_retriever(name, given, gold=EvidenceSet(1, (), 1, None), store=open_store())
        assert retriever.name == name
        values = retriever.settings.values()
        assert values == read_settings(name, given).values()
        assert read_settings(name, json.loads(json.dumps(values))).values() == values


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("BM2", {}, "Retriever 'BM2' is not known. Did you mean 'bm25'? Names are: "),
        ("bm25", {"k1": "abc"}, "Retriever bm25 cannot take 'abc' for k1. Give a number from 0 to 100."),
        ("bm25", {"kl": 1}, "has no setting 'kl'. Did you mean 'k1'? Settings are: k1, b."),
        ("lead", {"k": 1}, "Retriever lead has no setting 'k'. It takes no settings."),
        ("llm", {}, "has no model"),
        ("llm", {"model": "m", "strategy": "icl"}, "has no examples for icl"),
        ("embeddings", {}, "Retriever embeddings has no model"),
        ("rerank", {}, "Retriever rerank has no model"),
        ("rerank", {"model": "minilm", "of": "bm25,lead"}, "has two retrievers to rank again"),
        ("hybrid", {"of": "bm25"}, "has of=bm25. Name two or more"),
        ("hybrid", {"of": "bm25,oracle"}, "cannot have oracle as a member"),
        ("hybrid", {"of": "bm25,rerank"}, "cannot have rerank as a member"),
        ("hybrid", {"of": "bm25,llm"}, "cannot have llm as a member"),
        ("hybrid", {"of": "bm25,dens"}, "Retriever 'dens' is not known"),
        ("hybrid", {"of": "bm25,lead", "dense.model": "x"}, "'dense', which is not one of its members"),
        ("hybrid", {"bm25.k2": 1}, "Retriever bm25 has no setting 'k2'"),
    ],
)
def test_a_bad_name_or_setting_is_one_line_with_a_remedy(
    name: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingError) as caught:
        make_retriever(name, settings, store=open_store())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_labels() -> None:
    def label(name: str, extra: str = "", **settings: object) -> str:
        return run_label(name, read_settings(name, settings).values(), extra)

    assert label("bm25", b=0.5, k1=1.2) == "bm25 k1=1.2 b=0.5"
    assert label("hybrid", of="lead,bm25", **{"bm25.k1": 2}) == "hybrid of=bm25+lead bm25.k1=2.0"
    assert run_label(IMPORTED, {"name": "mine"}, "negation") == "mine (imported) [negation]"
    folds = label("evidence-ranker", "5 folds", model="cross-validated")
    assert folds == "evidence-ranker cross-validated [5 folds]"
