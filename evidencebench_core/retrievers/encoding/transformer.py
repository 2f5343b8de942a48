"""Models by sentence-transformers. torch is imported when the first one is loaded, not before."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from logging.handlers import MemoryHandler
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.encoding.models import Model, minilm_folder, model_error

_MISSING: Final = re.compile(r"^(\S+)\s*\|[^|\n]*MISSING", re.MULTILINE)  # of transformers' report
_BATCH: Final = 32  # texts
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_log = logging.getLogger(__name__)
_loading = threading.Lock()  # held while torch is imported or a model is loaded


def new_transformer(model: Model) -> Any:
    """The model as a ``SentenceTransformer`` that nobody else has: it may be changed."""
    if model.runtime == "pooler":
        raise model_error(model.name, "cannot be used by its pooler here", "Leave out pooler:.")
    folder = minilm_folder() if model.folder is None else model.folder
    try:
        with _loading, _quiet() as messages:
            from sentence_transformers import SentenceTransformer

            loaded = SentenceTransformer(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:
        problem = "cannot be loaded as a sentence-transformers model"
        raise model_error(model.name, problem, cause=error) from error
    _check_complete(model, messages)
    return loaded


transformer = lru_cache(maxsize=4)(new_transformer)


def pooled(model: Model, texts: list[str]) -> NDArray[np.float32]:
    """The pooler's output for each text: (len(texts), dimensions)."""
    import torch

    tokenizer, network = _with_pooler(model)
    parts = []
    for start in range(0, len(texts), _BATCH):
        batch = tokenizer(texts[start : start + _BATCH], padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            parts.append(network(**batch).pooler_output.float().numpy())
    return np.concatenate(parts)


@lru_cache(maxsize=1)
def _with_pooler(model: Model) -> tuple[Any, Any]:
    try:
        with _loading, _quiet() as messages:
            from transformers import AutoModel, AutoTokenizer

            here: Any = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = AutoTokenizer.from_pretrained(str(model.folder), **here)
            network = AutoModel.from_pretrained(str(model.folder), **here).eval()
    except Exception as error:
        raise model_error(model.name, "cannot be loaded with its pooler", cause=error) from error
    _check_complete(model, messages, "")
    if getattr(network, "pooler", None) is None:
        raise model_error(model.name, "has no pooler", "Leave out pooler:.")
    return tokenizer, network


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """No progress bars, and the loaders' warnings in a list instead of on stderr."""
    from transformers.utils import logging as untyped

    library: Any = untyped
    bars = library.is_progress_bar_enabled()
    library.disable_progress_bar()
    collector, messages = MemoryHandler(1000, flushLevel=logging.CRITICAL + 1), list[str]()
    collector.setLevel(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers")]
    before = [(logger, logger.handlers[:], logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers[:], logger.propagate = [collector], False
    try:
        yield messages
    finally:
        messages += [_ANSI.sub("", record.getMessage()) for record in collector.buffer]
        for logger, handlers, propagate in before:
            logger.handlers[:], logger.propagate = handlers, propagate
        if bars:
            library.enable_progress_bar()


def _check_complete(model: Model, messages: list[str], unused: str = ".pooler.") -> None:
    """Weights that are not in the file are made up at random: no answers from those.

    A missing pooler is harmless to sentence-transformers, which pools by itself.
    """
    names = [name for message in messages for name in _MISSING.findall(message)]
    made_up = [name for name in names if not (unused and unused in f".{name}")]
    if made_up:
        problem = f"its files lack {len(made_up)} weights, such as {made_up[0]}"
        raise model_error(model.name, problem, "Save or download the model again.")
    for message in messages:
        _log.info("loading model %s: %s", model.name, message)
