import json
import tomllib
from pathlib import Path

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import IMPORTED, RETRIEVERS, make_retriever, read_settings, run_label
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.retrievers.ranker.made_up import small_model

REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))["refused"]


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


@pytest.mark.parametrize(("name", "settings", "message"), REFUSED)
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
    assert label("hybrid", of="lead,bm25", k=2) == "hybrid of=bm25+lead k=2.0"
    assert label("hybrid") == "hybrid of=bm25+dense"
    assert run_label(IMPORTED, {"name": "mine"}, "negation") == "mine (imported) [negation]"
    folds = label("evidence-ranker", "5 folds", model="cross-validated")
    assert folds == "evidence-ranker cross-validated [5 folds]"
