"""Encoding with ONNX Runtime and the tokeniser alone: neither torch nor sentence-transformers is imported."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.retrievers.encoding.graph import bert_graph
from evidencebench_core.retrievers.encoding.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LightEncoder"]

_BATCH: Final = 512  # tokens of a batch: what its widest layer needs stays in a core's own cache
_MOST_THREADS: Final = 16


class LightEncoder:
    """One model, ready to encode; safe for threads.

    Only texts of the same number of tokens share a batch: nothing is padded, and the embedding of a
    text does not hang on those encoded with it. Batches are spread over the processors.

    Parameters
    ----------
    recipe : Recipe
    int8 : bool
        See `bert_graph`.

    Raises
    ------
    Exception
        Whatever the packages raise for weights that are damaged or of another shape.
    """

    def __init__(self, recipe: Recipe, *, int8: bool) -> None:
        import onnxruntime
        from safetensors import safe_open
        from tokenizers import Tokenizer

        self._recipe = recipe
        with safe_open(recipe.weights, framework="numpy") as file:
            names = set(file.keys())
            prefix = "bert." if "bert.embeddings.word_embeddings.weight" in names else ""

            def weights(name: str) -> NDArray[np.float32]:
                array: NDArray[np.float32] = file.get_tensor(prefix + name)
                return array.astype("float32", copy=False)

            self._words = weights("embeddings.word_embeddings.weight")
            kinds = weights("embeddings.token_type_embeddings.weight")
            self._places = weights("embeddings.position_embeddings.weight") + kinds[0]
            graph = bert_graph(recipe, weights, int8=int8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # batches run side by side instead
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(recipe.tokenizer))
        self._tokenizer.enable_truncation(recipe.longest)
        self._tokenizer.no_padding()

    def encoded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One embedding a text, in their order: (len(texts), dimensions)."""
        import numpy as np

        tokens = [found.ids for found in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), self._words.shape[1]), dtype=np.float32)
        batches = list(_batches([len(ids) for ids in tokens]))

        def fill(members: list[int]) -> None:
            vectors[members] = self._pooled([tokens[member] for member in members])

        n_threads = min(_n_processors(), len(batches), _MOST_THREADS)
        if n_threads < 2:
            for batch in batches:
                fill(batch)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                for _ in pool.map(fill, batches):
                    pass
        return vectors

    def _pooled(self, tokens: list[list[int]]) -> NDArray[np.float32]:
        """The embeddings of texts of the same number of tokens."""
        import numpy as np

        ids = np.array(tokens, dtype=np.intp)
        embedded = self._words[ids] + self._places[: ids.shape[1]]
        hidden: NDArray[np.float32] = self._session.run(["hidden"], {"tokens": embedded})[0]
        pooled = hidden[:, 0] if self._recipe.pooling == "cls" else hidden.mean(axis=1)
        if self._recipe.normalised:
            lengths = np.sqrt((pooled * pooled).sum(axis=1, keepdims=True))
            pooled = pooled / np.maximum(lengths, np.float32(1e-12))
        return np.asarray(pooled)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The members of each batch, those of the longest texts first, so that no thread ends late."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for member, length in enumerate(lengths):
        by_length[length].append(member)
    for length in sorted(by_length, reverse=True):
        members, size = by_length[length], max(1, _BATCH // length)
        for start in range(0, len(members), size):
            yield members[start : start + size]


def _n_processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
