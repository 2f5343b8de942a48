"""Which models made a gold, and whether a run's model is akin to them (rule 48)."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evidencebench_core.construction.provenance import (
    GoldMakers,
    family_note,
    gold_makers,
    gold_models,
    model_family,
)
from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.parse import parse_instance
from evidencebench_core.data.store import Store
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


def test_who_made_the_gold() -> None:
    said: list[Any] = [
        {"stage": "alignment", "model": "m"},
        {"stage": "motive", "model": "n"},
        3,
        {"stage": "leak"},
    ]
    one = parse_instance("x", raw_instance(3, {"a": [1]}))
    assert gold_models(replace(one, construction={"stages": said})) == ("m",)
    assert gold_models(one) == ()
    assert gold_models(replace(one, id="evidencebench_train_id_1")) == ("GPT-4",)
    assert gold_models(replace(one, construction={"stages": "m"})) == ()


def test_who_made_the_gold_of_a_dataset(store: Store, tmp_path: Path) -> None:
    said = {"stages": [{"stage": "alignment", "model": "gpt-4o"}], "aspects": ["model"]}
    raws = {f"i{n}": raw_instance(3, {f"i{n}_aspect_0": [1]}) for n in range(4)}
    raws["i0"]["construction"] = said
    ingest(store, written(raws, tmp_path / "made.json"))
    found = gold_makers(store, "made")
    assert found == GoldMakers(("gpt-4o",), 0.25)
    run = SimpleNamespace(retriever="llm", settings={"model": "gpt-4o-mini"})
    proposed, family = found.notes([run])  # type: ignore[list-item]
    assert proposed.startswith("In about 25% of the instances: Study aspects proposed by a model")
    assert "gpt-4o-mini is of the same family" in family
    assert GoldMakers(("gpt-4o",), 0).notes([SimpleNamespace(retriever="bm25", settings={})]) == ()  # type: ignore[list-item]


def test_the_note() -> None:
    assert family_note(["GPT-4"], ["claude-3", "bm25"]) == ""
    note = family_note(["GPT-4"], ["claude-3", "gpt-4o", "gpt-4o"])
    assert note.startswith("The gold was made with GPT-4, and gpt-4o is of the same family")
