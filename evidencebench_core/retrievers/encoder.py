"""Texts -> embeddings: from the cache what is there, from the model what is not.

A model is loaded once in a process, and used by one thread at a time (fast tokenisers are not
made for more). torch is imported when the first uncached text comes, not before.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.retrievers.embedding_cache import EmbeddingCache
from evidencebench_core.retrievers.model_folder import Model, checked_minilm_folder, model_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["embedded"]

_HOW: Final = "plain v1"  # part of every cache key: change it when `_encoded` changes what it computes
_BATCH: Final = 32
_MISSING: Final = re.compile(r"^(\S+)\s*\|[^|\n]*MISSING", re.MULTILINE)  # of transformers' report
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_log = logging.getLogger(__name__)

_loading = threading.Lock()  # held while torch is imported or a model is loaded
_loaded: dict[str, Any] = {}  # SentenceTransformer by identity
_using: dict[str, threading.Lock] = {}  # by identity


def embedded(model_name: str, texts: Sequence[str]) -> tuple[NDArray[np.float32], Model]:
    """One embedding a text, each encoded on its own, and the model that made them.

    Parameters
    ----------
    model_name : str
        See `model_named`.
    texts : sequence of str
        At least one. Longer ones than the model reads are cut by its tokeniser.

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
    import numpy as np

    cache = EmbeddingCache()
    model = model_named(model_name, cache)
    identity = f"{model.identity} {_HOW}"
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
    with _loading:
        return _using.setdefault(identity, threading.Lock())


def _encoded(model: Model, texts: list[str]) -> NDArray[np.float32]:
    import numpy as np

    transformer = _transformer(model)
    # tokenisers take no lone surrogates; the cache key is still the text as it was
    readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    try:
        # encode() sorts by length itself, so that a batch holds texts of much the same length
        vectors = np.asarray(
            transformer.encode(readable, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True),
            dtype=np.float32,
        )
    except Exception as error:
        raise _failed(model, "could not encode the text", error) from error
    if vectors.shape[0] != len(texts) or vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise RetrieverError(
            "retriever dense", f"model {shown(model.name)} gave no usable embeddings", "Choose another model."
        )
    return vectors


def _transformer(model: Model) -> Any:
    with _loading:
        if model.identity not in _loaded:
            folder = checked_minilm_folder() if model.folder is None else model.folder
            try:
                with _quiet() as messages:
                    from sentence_transformers import SentenceTransformer

                    transformer = SentenceTransformer(
                        str(folder), trust_remote_code=False, local_files_only=True
                    )
            except Exception as error:
                raise _failed(model, "cannot be loaded as a sentence-transformers model", error) from error
            _check_complete(model, messages)
            _loaded[model.identity] = transformer
        return _loaded[model.identity]


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """No progress bars, and the loaders' warnings in a list instead of on stderr."""
    from transformers.utils import logging as untyped

    library: Any = untyped
    bars = library.is_progress_bar_enabled()
    library.disable_progress_bar()
    collector = _Collector(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers")]
    before = [(logger, logger.handlers[:], logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers[:], logger.propagate = [collector], False
    try:
        yield collector.messages
    finally:
        for logger, handlers, propagate in before:
            logger.handlers[:], logger.propagate = handlers, propagate
        if bars:
            library.enable_progress_bar()


class _Collector(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(_ANSI.sub("", record.getMessage()))


def _check_complete(model: Model, messages: Sequence[str]) -> None:
    """Weights that are not in the file are made up at random: no answers from those.

    A missing pooler is harmless, sentence-transformers pools by itself.
    """
    made_up = [
        name
        for message in messages
        for name in _MISSING.findall(message)
        if not name.startswith("pooler.") and ".pooler." not in name
    ]
    if made_up:
        raise RetrieverError(
            "retriever dense",
            f"the files of model {shown(model.name)} lack {len(made_up)} weights, such as {made_up[0]}",
            "Save or download the model again.",
        )
    for message in messages:
        _log.info("loading model %s: %s", model.name, message)


def _failed(model: Model, what: str, error: Exception) -> RetrieverError:
    reason = " ".join(str(error).split())
    return RetrieverError(
        "retriever dense",
        f"model {shown(model.name)} {what} ({type(error).__name__}: {reason[:120]})",
        "Give minilm, the folder of a sentence-transformers model, or a Hugging Face name.",
    )
