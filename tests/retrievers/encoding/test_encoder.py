"""With the real, packaged model."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.encoding import Backend, embeddings, minilm, minilm_folder
from tests.retrievers.queries import make_query

pytestmark = [pytest.mark.slow, pytest.mark.model]

ODD = (
    *("", " ", "A", "\0", "\ud800 lone surrogate", "\U0001d54f astral \U0001f9ec", "word " * 4000),
    *("ש" * 20_000, "xq" * 120),
    "[CLS] [SEP] [PAD] [MASK] <p>&lt;0.001</p>",
    "腫瘍の大きさは治療後に縮小した。",
    "The hazard ratio was 0.72 (95% CI 0.58-0.89; P = 0.002) after adjustment for age and sex.",
    "Expression of IL-6, TNF-α and CXCL8 rose 2.3-fold after 24 h of stimulation with LPS (100 ng/mL).",
    "Patients with ≥ 3 comorbidities had longer stays (median 9 v. 5 days, IQR 4–13 v. 3–8).",
)


@pytest.fixture
def model_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(minilm_folder(), tmp_path / "model"))


def test_it_knows_what_is_alike() -> None:
    paper = ("Data are available on request.", "Cigarette use was tied to bladder tumours.", "We thank Ann.")
    retrieval = make_retriever("dense").retrieve(make_query(paper, budget=1))
    assert retrieval.selection == (1,)
    assert retrieval.scores[0] > 0.5 > retrieval.scores[1]


@pytest.mark.parametrize(("backend", "near"), [("float32", 1e-6), ("onnx-int8", 2e-3)])
def test_an_embedding_depends_on_nothing_but_the_text(
    backend: Backend, near: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    together, _ = embeddings("minilm", ODD, backend)
    assert (together.shape, together.dtype) == ((len(ODD), 384), np.float32)
    assert embeddings("minilm", ODD, backend)[0].tobytes() == together.tobytes()  # from the cache
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path))
    for index in (0, 6, 10):
        alone, _ = embeddings("minilm", [ODD[index]], backend)
        assert alone[0] == pytest.approx(together[index], abs=near)


def test_float32_is_what_sentence_transformers_gives_and_8_bits_are_near(model_copy: Path) -> None:
    ours, theirs = (embeddings(name, ODD)[0] for name in ("minilm", str(model_copy)))
    assert np.abs(ours - theirs).max() < 1e-5
    cosines = (embeddings("minilm", ODD, "onnx-int8")[0] * theirs).sum(axis=1)
    assert cosines.mean() > 0.99
    assert cosines.min() > 0.98


def test_loading_is_silent_and_the_packaged_model_needs_no_torch(model_copy: Path) -> None:
    code = """
import sys
from evidencebench_core.retrievers.encoding import embeddings
for name in ("minilm", sys.argv[1]):
    vectors, model = embeddings(name, ["one text", "another"])
    print(vectors.shape, model.identity[:13], "torch" in sys.modules)
"""
    command = [sys.executable, "-c", code, str(model_copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "(2, 384) minilm sha256 False\n(2, 384) folder sha256 True\n"
    assert done.stderr == ""


def test_weights_that_the_file_lacks_are_not_made_up(model_copy: Path) -> None:
    file = model_copy / "model.safetensors"
    rest = {name: value for name, value in load_file(file).items() if "layer.3." not in name}
    save_file(rest, file, metadata={"format": "pt"})
    said = r"lack 16 weights, such as encoder\.layer\.3\..*Save or download"
    with pytest.raises(RetrieverError, match=said):
        make_retriever("dense", {"model": str(model_copy)}).retrieve(make_query("ab"))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0 not a safetensors"),
        ("modules.json", b"{ not json"),
        ("config.json", b"{}"),
    ],
)
def test_a_damaged_folder_is_an_error_of_one_line(model_copy: Path, file: str, content: bytes) -> None:
    (model_copy / file).write_bytes(content)
    with pytest.raises(RetrieverError, match="cannot be loaded as a sentence-transformers model") as caught:
        make_retriever("dense", {"model": str(model_copy)}).retrieve(make_query("ab"))
    assert "\n" not in str(caught.value)


def test_a_damaged_package_says_how_to_install_it_again(
    monkeypatch: pytest.MonkeyPatch, model_copy: Path
) -> None:
    (model_copy / "tokenizer.json").write_text("{ not json")
    monkeypatch.setattr(minilm, "minilm_folder", lambda: model_copy)
    with pytest.raises(RetrieverError, match=r"'minilm': cannot be loaded .*pip install --force-reinstall"):
        minilm.minilm.__wrapped__(int8=False)


def test_the_poolers_output_is_an_embedding(tmp_path: Path) -> None:
    """As SimCSE was trained (bioace spec rule 13): a dense layer with tanh on the first token, not normalised."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast, set_seed

    set_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tea", "helps", "in", "men"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = BertTokenizerFast(str(tmp_path / "vocab.txt"))
    tokenizer.save_pretrained(tmp_path)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    network = BertModel(config).eval()
    network.save_pretrained(tmp_path)
    texts = ["tea helps", "tea helps in men", "men"]
    vectors, model = embeddings(f"pooler:{tmp_path}", texts)
    for text, vector in zip(texts, vectors, strict=True):
        with torch.no_grad():
            first = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0]
            expected = torch.tanh(network.pooler.dense(first))
        assert vector == pytest.approx(expected.numpy(), abs=1e-5)
    assert model.runtime == "pooler"
    mean, _ = embeddings(str(tmp_path), texts)  # the same weights, pooled by sentence-transformers
    assert not np.allclose(mean, vectors)
    BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    with pytest.raises(RetrieverError, match=r"pooler\.dense"):
        embeddings(f"pooler:{tmp_path}", ["other text"])
    with pytest.raises(RetrieverError, match="no pooler that was trained"):
        embeddings("pooler:minilm", ["tea"])
