from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.retrievers.encoding.cache import EmbeddingCache
from evidencebench_core.retrievers.encoding.minilm import minilm
from evidencebench_core.retrievers.encoding.models import Backend, Model, model_error, model_named
from evidencebench_core.retrievers.encoding.transformer import pooled, transformer

_VERSION: Final = "v3"  # part of every cache key: raise it when the same model computes something else
_in_use: dict[str, threading.Lock] = {}  # by identity: threads that ask for the same paper encode it once


def embeddings(
    model_name: str, texts: Sequence[str], backend: Backend = "float32"
) -> tuple[NDArray[np.float32], Model]:
    """One embedding for each text, encoded on its own: from the cache, else from the model.

    Parameters
    ----------
    model_name : str
        See `model_named`.
    texts : sequence of str
        At least one. Longer ones than the model reads are cut by its tokeniser.
    backend : {"float32", "onnx-int8"}
        ``onnx-int8`` for ``minilm`` only: a few times quicker, with cosines that differ in the third decimal.

    Returns
    -------
    array of shape (len(texts), dimensions), float32
        Not normalised unless the model does.
    Model

    Raises
    ------
    RetrieverError
        If the model cannot be found, loaded or run.
    """
    model = model_named(model_name, backend)
    return _vectors(model, texts, wide=False), model


def layered_embeddings(model_name: str, texts: Sequence[str]) -> tuple[NDArray[np.float32], Model]:
    """The embedding of `embeddings`, and behind it that of MiniLM's fourth layer, which says more of a text's manner.

    Returns
    -------
    array of shape (len(texts), 2 * dimensions), float32
        Models other than ``minilm`` give their embedding twice.
    Model

    Raises
    ------
    RetrieverError
        As `embeddings`.
    """
    model = model_named(model_name)
    if model.runtime == "onnx":
        return _vectors(model, texts, wide=True), model
    vectors = _vectors(model, texts, wide=False)
    return np.concatenate([vectors, vectors], axis=1), model


def _vectors(model: Model, texts: Sequence[str], *, wide: bool) -> NDArray[np.float32]:
    cache, narrow_key = EmbeddingCache(), _cache_key(model)
    key = f"{narrow_key} and layer 4" if wide else narrow_key
    known = cache.vectors(key, texts)
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if missing:
        with _in_use.setdefault(model.identity, threading.Lock()):
            known |= cache.vectors(key, missing)  # another thread may have been here
            missing = [text for text in missing if text not in known]
            if missing:
                vectors = _encode(model, missing)
                narrow = vectors if model.folder else vectors[:, : vectors.shape[1] // 2]
                cache.add(narrow_key, dict(zip(missing, narrow, strict=True)))
                fresh = dict(zip(missing, vectors if wide else narrow, strict=True))
                if wide:
                    cache.add(key, fresh)
                known |= fresh
    return np.stack([known[text] for text in texts])


def are_embedded(model_name: str, texts: Sequence[str], backend: Backend = "float32") -> bool:
    """Whether the cache has the embeddings of all texts, so that `embeddings` needs no time for them."""
    return len(EmbeddingCache().vectors(_cache_key(model_named(model_name, backend)), texts)) == len(
        set(texts)
    )


def _cache_key(model: Model) -> str:
    return f"{model.identity} {model.runtime} {_VERSION}"


def _encode(model: Model, texts: list[str]) -> NDArray[np.float32]:
    # tokenisers take no lone surrogates; the cache key is still the text as it was
    readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    try:
        if model.runtime == "torch":
            # encode() sorts by length itself, so that a batch holds texts of much the same length
            vectors = transformer(model).encode(readable, show_progress_bar=False, convert_to_numpy=True)
        elif model.runtime == "pooler":
            vectors = pooled(model, readable)
        else:
            vectors = minilm(int8=model.runtime == "onnx-int8").encode(readable)
    except EvidenceBenchError:
        raise
    except Exception as error:
        raise model_error(model.name, "could not encode the text", cause=error) from error
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or len(array) != len(texts) or not np.isfinite(array).all():
        raise model_error(model.name, "gave no usable embeddings", "Choose another model.")
    return array
