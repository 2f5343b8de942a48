"""Which models made a gold, and whether a run's model is akin to them (rule 48)."""

from dataclasses import replace
from typing import Any

import pytest

from evidencebench_core.construction.provenance import family_note, gold_models, model_family
from evidencebench_core.data.parse import parse_instance
from tests.factories import raw_instance


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


def test_the_note() -> None:
    assert family_note(["GPT-4"], ["claude-3", "bm25"]) == ""
    note = family_note(["GPT-4"], ["claude-3", "gpt-4o", "gpt-4o"])
    assert note.startswith("The gold was made with GPT-4, and gpt-4o is of the same family")
