"""Texts -> embeddings: from the cache what is there, from the model what is not.

A model is used by one thread at a time, so that threads that ask for the same paper encode it once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from evidencebench_core.retrievers.embedding_cache import EmbeddingCache
from evidencebench_core.retrievers.encoding.backend import Backend, BackendName, encoded, resolved
from evidencebench_core.retrievers.model_folder import Model, model_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["embedded"]

# Part of every cache key: change a backend's when it computes something else.
_HOW: Final[dict[Backend, str]] = {"torch": "plain v1", "onnx": "onnx v1", "onnx-int8": "onnx-int8 v1"}

_locks = threading.Lock()
_using: dict[str, threading.Lock] = {}  # by identity


def embedded(
    model_name: str, texts: Sequence[str], backend: BackendName = "auto"
) -> tuple[NDArray[np.float32], Model]:
    """One embedding a text, each encoded on its own, and the model that made them.

    Parameters
    ----------
    model_name : str
        See `model_named`.
    texts : sequence of str
        At least one. Longer ones than the model reads are cut by its tokeniser.
    backend : {"auto", "float32", "torch", "onnx", "onnx-int8"}
        See `resolved`. Embeddings of different backends are never mixed.

    Returns
    -------
    array of shape (len(texts), dimensions), float32
        Not normalised unless the model does.
    Model
        Its ``backend`` is the one that made them.

    Raises
    ------
    RetrieverError
        If the model cannot be found, loaded or run.
    """
    import numpy as np

    cache = EmbeddingCache()
    model = model_named(model_name, cache)
    with _lock_of(model.identity):
        model = replace(model, backend=resolved(backend, model, cache))
    identity = f"{model.identity} {_HOW[model.backend]}"
    found = cache.vectors(identity, texts)
    missing = [text for text in dict.fromkeys(texts) if text not in found]
    if missing:
        with _lock_of(model.identity):
            found |= cache.vectors(identity, missing)  # another thread may have been here
            missing = [text for text in missing if text not in found]
            if missing:
                fresh = dict(zip(missing, _encoded(model, missing), strict=True))
                cache.add(identity, fresh)
                found |= fresh
    return np.stack([found[text] for text in texts]), model


def _lock_of(identity: str) -> threading.Lock:
    with _locks:
        return _using.setdefault(identity, threading.Lock())


def _encoded(model: Model, texts: list[str]) -> NDArray[np.float32]:
    # tokenisers take no lone surrogates; the cache key is still the text as it was
    readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    return encoded(model, readable, model.backend)
