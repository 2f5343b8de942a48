"""The real train set, and an encoder that needs no model."""

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencebench_core.retrievers import encoding


def hashed_vectors(model: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Thirty-two numbers a text, from its digest."""
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    return np.array([[byte - 127.5 for byte in digest] for digest in digests], dtype=np.float32)


@pytest.fixture
def encoded_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that went to the model, which is replaced by one that hashes them."""
    seen: list[str] = []

    def fake(model: str, texts: list[str]) -> NDArray[np.float32]:
        seen.extend(texts)
        return hashed_vectors(model, texts)

    monkeypatch.setattr(encoding, "encode", fake)
    return seen
