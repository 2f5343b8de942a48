"""Which models made a gold, and whether a run's model is of their family."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from evidencebench_core.annotation.provenance import (
    GoldMakers,
    gold_makers,
    gold_models,
    model_family,
)
from evidencebench_core.data import open_store
from evidencebench_core.data.formats import instance_from
from evidencebench_core.data.ingestion import ingest
from tests.factories import raw_instance, written


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-4o-mini", "gpt"), ("GPT4-0125", "gpt"), ("o3-mini", "gpt"), ("chatgpt-4o-latest", "gpt"),
        ("claude-3-opus", "claude"), ("meta-llama/Llama-3-8B", "llama"), ("Qwen/Qwen2.5-7B", "qwen"),
        ("olmo-2", "olmo"), ("", ""), ("42", "42"),
    ],
)  # fmt: skip
def test_families(model: str, family: str) -> None:
    assert model_family(model) == family


def test_the_models_behind_an_instance() -> None:
    instance = instance_from("x", raw_instance(3, {"a": [1]}))
    made = {"stages": [{"stage": "alignment", "model": "m"}, 3, {"stage": "results"}]}
    for changes, models in (
        ({}, ()),
        ({"construction": made}, ("m",)),
        ({"construction": {"stages": "m"}}, ()),
        ({"id": "evidencebench_train_id_1"}, ("GPT-4",)),
        ({"id": "evidencebench_100k_id_1"}, ("GPT-4o-mini",)),
    ):
        assert gold_models(replace(instance, **changes)) == models


def test_who_made_the_gold_of_a_dataset(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    raws = {f"i{n}": raw_instance(3, {f"i{n}_aspect_0": [1]}) for n in range(4)}
    stages = [{"stage": "alignment", "model": "gpt-4o"}]
    raws["i0"]["construction"] = {"stages": stages, "aspects": ["model"]}
    ingest(store, written(raws, tmp_path / "made.json"))
    makers = gold_makers(store, "made")
    assert makers == GoldMakers(("gpt-4o",), 0.25)
    run = SimpleNamespace(retriever="llm", settings={"model": "gpt-4o-mini"})
    proposed, family = makers.notes([run])  # type: ignore[list-item]
    assert "25%" in proposed
    assert "gpt-4o-mini" in family
    local = SimpleNamespace(retriever="bm25", settings={})
    assert GoldMakers(("gpt-4o",), 0).notes([local]) == ()  # type: ignore[list-item]
