import json

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import IMPORTED, RETRIEVERS, make_retriever, read_settings, run_label
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.retrievers.ranker.made_up import small_model

SERVED = ["llm", "embeddings"]
POSITIONS = ["random", "oracle", "lead", "abstract-tail"]
LOCAL = [*POSITIONS, "bm25", "dense", "hybrid", "rerank", "structure", "evidence-ranker"]


def test_the_table_holds_these() -> None:
    assert list(RETRIEVERS) == [*LOCAL, *SERVED]
    assert [name for name, entry in RETRIEVERS.items() if entry.sees_gold] == ["oracle"]


@pytest.mark.parametrize("name", LOCAL)
def test_a_retriever_has_its_full_settings_and_they_survive_json(name: str) -> None:
    if name == "evidence-ranker":
        write_model(small_model(), default_model_path())
    given = {"model": "minilm"} if name == "rerank" else {}
    retriever = make_retriever(name, given, gold=EvidenceSet(1, (), 1, None))
    assert retriever.name == name
    values = retriever.settings.values()
    assert values == read_settings(name, given).values()
    assert read_settings(name, json.loads(json.dumps(values))).values() == values


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("BM2", {}, "retriever: there is none called 'BM2'. Did you mean 'bm25'? Names are: "),
        ("bm25", {"k1": "abc"}, "retriever bm25: k1 cannot be 'abc'. Give a number from 0 to 100."),
        ("bm25", {"kl": 1}, "there is no setting 'kl'. Did you mean 'k1'? Settings are: k1, b."),
        ("lead", {"k": 1}, "retriever lead: there is no setting 'k'. It takes no settings."),
        ("embeddings", {}, "retriever embeddings: has no model"),
        ("rerank", {}, "retriever rerank: has no model"),
        ("rerank", {"model": "minilm", "of": "bm25,lead"}, "has two retrievers to rank again"),
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
    def label(name: str, **settings: object) -> str:
        return run_label(name, read_settings(name, settings).values())

    assert label("bm25") == "bm25"
    assert label("bm25", b=0.5, k1=1.2) == "bm25 k1=1.2 b=0.5"
    assert label("hybrid", of="lead,bm25", **{"bm25.k1": 2}) == "hybrid of=bm25+lead bm25.k1=2.0"
    assert run_label(IMPORTED, {"name": "mine"}, "negation") == "mine (imported) [negation]"
    assert (
        run_label("evidence-ranker", {"model": "cross-validated"}, "5 folds")
        == "evidence-ranker cross-validated [5 folds]"
    )
