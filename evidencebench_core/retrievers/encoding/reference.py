"""sentence-transformers itself: the reference that other backends are measured against.

A model is loaded once in a process. torch is imported when the first one is, not before.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import RetrieverError, shown
from evidencebench_core.retrievers.model_folder import Model, checked_minilm_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["failed", "fresh_transformer", "reference_encoded", "usable"]

_BATCH: Final = 32
_MISSING: Final = re.compile(r"^(\S+)\s*\|[^|\n]*MISSING", re.MULTILINE)  # of transformers' report
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_log = logging.getLogger(__name__)

_loading = threading.Lock()  # held while torch is imported or a model is loaded
_using = threading.Lock()
_loaded: dict[str, Any] = {}  # SentenceTransformer by identity


def reference_encoded(model: Model, texts: Sequence[str]) -> NDArray[np.float32]:
    """One embedding a text, in float32, by ``SentenceTransformer.encode``; one thread at a time.

    Raises
    ------
    RetrieverError
        If the model cannot be loaded or run, or gives no usable embeddings.
    """
    transformer = _transformer(model)
    try:
        # encode() sorts by length itself, so that a batch holds texts of much the same length
        vectors = transformer.encode(
            list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True
        )
    except Exception as error:
        raise failed(model, "could not encode the text", error) from error
    return usable(model, vectors, len(texts))


def usable(model: Model, vectors: Any, n_texts: int) -> NDArray[np.float32]:
    """The vectors as an array, if they are one finite vector a text.

    Raises
    ------
    RetrieverError
        If they are not.
    """
    import numpy as np

    array = np.asarray(vectors, dtype=np.float32)
    if array.shape[0] != n_texts or array.ndim != 2 or not np.isfinite(array).all():
        raise RetrieverError(
            "retriever dense", f"model {shown(model.name)} gave no usable embeddings", "Choose another model."
        )
    return array


def fresh_transformer(model: Model) -> Any:
    """The model as a ``SentenceTransformer`` that nobody else has: it may be changed.

    Raises
    ------
    RetrieverError
        If it cannot be loaded, or its files lack weights.
    """
    folder = checked_minilm_folder() if model.folder is None else model.folder
    with _loading:
        try:
            with _quiet() as messages:
                from sentence_transformers import SentenceTransformer

                transformer = SentenceTransformer(str(folder), trust_remote_code=False, local_files_only=True)
        except Exception as error:
            raise failed(model, "cannot be loaded as a sentence-transformers model", error) from error
    _check_complete(model, messages)
    return transformer


def _transformer(model: Model) -> Any:
    with _using:
        if model.identity not in _loaded:
            _loaded[model.identity] = fresh_transformer(model)
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


def failed(model: Model, what: str, error: Exception) -> RetrieverError:
    """The error of one line for a model that something else went wrong with."""
    reason = " ".join(str(error).split())
    return RetrieverError(
        "retriever dense",
        f"model {shown(model.name)} {what} ({type(error).__name__}: {reason[:120]})",
        "Give minilm, the folder of a sentence-transformers model, or a Hugging Face name.",
    )
