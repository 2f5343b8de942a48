"""With the real, packaged model."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, encoder, make_retriever
from evidencebench_core.retrievers.embedding_cache import EmbeddingCache
from evidencebench_core.retrievers.encoding import BackendName, reference
from evidencebench_core.retrievers.model_folder import checked_minilm_folder

pytestmark = pytest.mark.model


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(checked_minilm_folder(), tmp_path / "model"))


def test_it_knows_what_is_alike(make_query: Callable[..., Query]) -> None:
    paper = (
        "Data are available on request.",
        "Cigarette use was tied to tumours of the bladder.",
        "We thank Ann.",
    )
    retrieval = make_retriever("dense").retrieve(make_query(paper, budget=1))
    assert retrieval.selection == (1,)
    assert retrieval.scores[0] > 0.5 > retrieval.scores[1]


@pytest.mark.parametrize("backend", ["torch", "onnx", "onnx-int8"])
def test_odd_texts_have_embeddings(backend: BackendName) -> None:
    texts = [
        "",
        " ",
        "\0",
        "\ud800 lone surrogate",
        "\U0001d54f astral \U0001f9ec",
        "word " * 4000,
        "ש" * 20_000,
    ]
    vectors, _ = encoder.embedded("minilm", texts, backend)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    again, _ = encoder.embedded("minilm", texts, backend)
    assert again.tobytes() == vectors.tobytes()


def test_a_copy_in_a_folder_gives_the_same_and_loading_is_silent(model_copy: Path) -> None:
    code = """
import sys
from evidencebench_core.retrievers import Query, make_retriever
query = Query("h", ("s1", "s2 and more", "s3"), ("abstract",) * 3, ("",) * 3)
retrievers = [make_retriever("dense", {"model": name, "backend": "torch"}) for name in ("minilm", sys.argv[1])]
answers = [retriever.retrieve(query) for retriever in retrievers]
print(answers[0].scores == answers[1].scores, [a.details["model"][:13] for a in answers])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(model_copy)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True ['minilm sha256', 'folder sha256']\n"
    assert done.stderr == ""


def test_weights_that_the_file_lacks_are_not_made_up(
    model_copy: Path, make_query: Callable[..., Query]
) -> None:
    from safetensors.numpy import load_file, save_file

    weights = load_file(model_copy / "model.safetensors")
    rest = {name: value for name, value in weights.items() if "layer.3." not in name}
    save_file(rest, model_copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        RetrieverError, match=r"lack 16 weights, such as encoder\.layer\.3\..*Save or download"
    ):
        make_retriever("dense", {"model": str(model_copy)}).retrieve(make_query("ab"))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0 not a safetensors"),
        ("modules.json", b"{ not json"),
        ("config.json", b"{}"),
    ],
)
def test_a_damaged_folder_is_an_error_of_one_line(
    model_copy: Path, make_query: Callable[..., Query], file: str, content: bytes
) -> None:
    (model_copy / file).write_bytes(content)
    with pytest.raises(RetrieverError, match="cannot be loaded as a sentence-transformers model") as caught:
        make_retriever("dense", {"model": str(model_copy)}).retrieve(make_query("ab"))
    assert "\n" not in str(caught.value)


def test_a_model_is_loaded_once() -> None:
    encoder.embedded("minilm", ["one text"], "torch")
    loaded = dict(reference._loaded)
    encoder.embedded("minilm", ["another text"], "torch")
    assert reference._loaded == loaded


def test_what_is_cached_is_what_the_model_said() -> None:
    vectors, model = encoder.embedded("minilm", ["one text", "two texts"])
    cached = EmbeddingCache().vectors(f"{model.identity} {encoder._HOW[model.backend]}", ["two texts"])
    assert cached["two texts"].tobytes() == vectors[1].tobytes()
