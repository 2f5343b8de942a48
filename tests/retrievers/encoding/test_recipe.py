from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.retrievers.encoding.recipe import Recipe, recipe_of
from evidencebench_core.retrievers.model_folder import checked_minilm_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The small files of the packaged model, and weights that nobody looks into."""
    source = checked_minilm_folder()
    copy = Path(shutil.copytree(source, tmp_path / "model", ignore=shutil.ignore_patterns("*.safetensors")))
    (copy / "model.safetensors").write_bytes(b"")
    return copy


def _change(path: Path, **values: object) -> None:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps({**content, **values}), encoding="utf-8")


def test_the_packaged_model(folder: Path) -> None:
    recipe = recipe_of(folder)
    assert isinstance(recipe, Recipe)
    assert (recipe.layers, recipe.heads, recipe.longest, recipe.pooling) == (6, 12, 256, "mean")
    assert recipe.normalised


def test_how_version_6_writes_it(folder: Path) -> None:
    kinds = (
        "sentence_transformers.base.modules.transformer.Transformer",
        "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
    )
    modules = [{"path": path, "type": kind} for path, kind in zip(("", "1_Pooling"), kinds, strict=True)]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode": "cls"}', encoding="utf-8")
    (folder / "sentence_bert_config.json").write_text("{}", encoding="utf-8")
    _change(folder / "tokenizer_config.json", model_max_length=10**30)
    recipe = recipe_of(folder)
    assert isinstance(recipe, Recipe)
    # no more tokens than the model has positions
    assert (recipe.longest, recipe.pooling, recipe.normalised) == (512, "cls", False)


@pytest.mark.parametrize(
    ("file", "values", "reason"),
    [
        ("config.json", {"model_type": "mpnet"}, "of the type mpnet"),
        ("config.json", {"hidden_act": "gelu_new"}, "not a plain BERT"),
        ("config.json", {"position_embedding_type": "relative_key"}, "not a plain BERT"),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}, "a prompt before each text"),
        ("sentence_bert_config.json", {"do_lower_case": True}, "lower-cases"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pools tokens in another way"),
        ("config.json", {"num_attention_heads": "many"}, "cannot be read"),
    ],
)
def test_what_is_not_understood_has_a_reason(
    folder: Path, file: str, values: dict[str, object], reason: str
) -> None:
    _change(folder / file, **values)
    found = recipe_of(folder)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("file", ["tokenizer.json", "model.safetensors"])
def test_a_file_that_is_not_there(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert recipe_of(folder) == f"it has no {file}"


def test_another_part_in_the_chain(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    modules.insert(2, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    assert recipe_of(folder) == "it is made of Transformer, Pooling, Dense, Normalize"
