"""An encoder that needs no model, and models of a moment."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencebench_core.retrievers import encoding


def hashed_vectors(model: str, texts: Sequence[str], role: str = "") -> NDArray[np.float32]:
    """Thirty-two numbers a text, from its digest."""
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    return np.array([[byte - 127.5 for byte in digest] for digest in digests], dtype=np.float32)


@pytest.fixture
def encoded_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that went to the model, which is replaced by one that hashes them."""
    seen: list[str] = []

    def fake(model: str, texts: list[str], role: str = "") -> NDArray[np.float32]:
        seen.extend(texts)
        return hashed_vectors(model, texts)

    monkeypatch.setattr(encoding, "encode", fake)
    return seen


def tiny_bert(folder: Path, kind: str = "BertModel", **config: int) -> Path:
    """A folder with an untrained BERT of one layer that knows a dozen words."""
    import transformers

    transformers.set_seed(0)
    folder.mkdir()
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] one two three four h t r query passage :".split()  # noqa: SIM905
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    made = getattr(transformers, kind)(transformers.BertConfig(vocab_size=len(words), **sizes, **config))
    made.save_pretrained(folder)
    return folder
