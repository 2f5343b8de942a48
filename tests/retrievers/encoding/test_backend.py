"""With the real, packaged model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.embedding_cache import EmbeddingCache
from evidencebench_core.retrievers.encoding import ENOUGH, Agreement, agreement, backend, resolved
from evidencebench_core.retrievers.encoding.probes import PROBES
from evidencebench_core.retrievers.model_folder import Model, checked_minilm_folder, model_named

pytestmark = pytest.mark.model

ODD = (
    *PROBES,
    "\0",
    "word " * 4000,
    "\U0001d54f astral \U0001f9ec",
    "ש" * 20_000,
    "[CLS] [SEP] [PAD] [MASK]",
    "\n\t \u200b",
    "A",
)


@pytest.fixture(scope="module")
def minilm() -> Model:
    return model_named("minilm", EmbeddingCache())


@pytest.fixture
def unmeasured(tmp_path: Path) -> Model:
    """A copy of the model under another name."""
    folder = Path(shutil.copytree(checked_minilm_folder(), tmp_path / "model"))
    return Model("copy", f"copy {tmp_path}", folder)


def test_float32_is_what_sentence_transformers_gives(minilm: Model) -> None:
    ours, theirs = (backend.encoded(minilm, ODD, name) for name in ("onnx", "torch"))
    cosines = (ours * theirs).sum(axis=1)
    assert cosines.min() > 0.9999
    assert np.abs(ours - theirs).max() < 1e-5


def test_int8_is_near_enough_to_be_taken(minilm: Model) -> None:
    found = agreement(minilm)["onnx-int8"]
    assert found.mean > 0.99
    assert found.suffices("onnx-int8")


@pytest.mark.parametrize("name", ["onnx", "onnx-int8"])
def test_a_text_is_encoded_alike_in_any_company(minilm: Model, name: backend.Backend) -> None:
    together = backend.encoded(minilm, ODD, name)
    for index in (0, 3, 24, 30):
        alone = backend.encoded(minilm, [ODD[index]], name)[0]
        assert alone == pytest.approx(together[index], abs=2e-3 if name == "onnx-int8" else 1e-6)


def test_the_quickest_that_agrees_is_taken_and_remembered(
    minilm: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"onnx-int8": Agreement(0.98, 0.9), "onnx": Agreement(1.0, 0.99999)}
    monkeypatch.setattr(backend, "agreement", lambda *_: found)
    assert resolved("auto", minilm, EmbeddingCache()) == "onnx"
    monkeypatch.setattr(backend, "agreement", lambda *_: pytest.fail("measured again"))
    assert resolved("auto", minilm, EmbeddingCache()) == "onnx"


def test_float32_never_takes_eight_bits(minilm: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolved("float32", minilm, EmbeddingCache()) == "onnx"
    assert resolved("auto", minilm, EmbeddingCache()) == "onnx-int8"  # remembered apart
    monkeypatch.setattr(backend, "agreement", lambda *_: pytest.fail("measured again"))
    assert resolved("float32", minilm, EmbeddingCache()) == "onnx"


def test_nothing_agrees(unmeasured: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "agreement", lambda *_: {"onnx": Agreement(0.9998, 0.99)})
    assert resolved("auto", unmeasured, EmbeddingCache()) == "torch"
    assert resolved("float32", unmeasured, EmbeddingCache()) == "torch"


def test_agreement_needs_both_mean_and_lowest() -> None:
    enough = ENOUGH["onnx-int8"]
    assert enough.suffices("onnx-int8")
    assert not Agreement(enough.mean - 0.001, 1.0).suffices("onnx-int8")
    assert not Agreement(1.0, enough.lowest - 0.001).suffices("onnx-int8")


def test_another_model_is_measured_against_torch(unmeasured: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(model: Model, texts: list[str]) -> np.ndarray:
        return np.roll(backend.encoded(model, texts, "onnx"), 1, axis=1)

    monkeypatch.setattr(backend, "reference_encoded", turned)
    assert agreement(unmeasured)["onnx"].mean < 0.9


def test_a_model_of_another_kind_runs_with_torch(unmeasured: Model) -> None:
    assert unmeasured.folder is not None
    config = unmeasured.folder / "config.json"
    told = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({**told, "model_type": "mpnet"}), encoding="utf-8")
    assert resolved("auto", unmeasured, EmbeddingCache()) == "torch"
    with pytest.raises(RetrieverError, match="does not run with backend onnx: it is of the type mpnet"):
        resolved("onnx", unmeasured, EmbeddingCache())


def test_a_first_look_imports_no_torch() -> None:
    code = """
import sys
from evidencebench_core.retrievers.encoder import embedded
vectors, model = embedded("minilm", ["one text", "another"])
print(vectors.shape, model.backend != "torch")
print(sorted({"torch", "transformers", "sentence_transformers"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(2, 384) True\n[]\n"
    assert done.stderr == ""
