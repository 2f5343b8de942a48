from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.encoding.graph import bert_graph
from evidencebench_core.retrievers.encoding.models import REINSTALL, minilm_folder, model_error

_BATCH: Final = 512  # tokens of a batch: what its widest layer needs stays in a core's own cache
_LONGEST: Final = 256  # tokens read of a text, the two special ones included
_MOST_THREADS: Final = 16


class MiniLM:
    """The packaged all-MiniLM-L6-v2 by ONNX Runtime, without torch; safe for threads.

    Only texts of the same number of tokens share a batch: nothing is padded, and the embedding of a
    text does not depend on those encoded with it. Batches are spread over the processors.
    """

    def __init__(self, *, int8: bool) -> None:
        import onnxruntime
        from safetensors import safe_open
        from tokenizers import Tokenizer

        folder = minilm_folder()
        with safe_open(folder / "model.safetensors", framework="numpy") as file:
            self._words: NDArray[np.float32] = file.get_tensor("embeddings.word_embeddings.weight")
            kinds = file.get_tensor("embeddings.token_type_embeddings.weight")
            self._places = file.get_tensor("embeddings.position_embeddings.weight") + kinds[0]
            graph = bert_graph(file.get_tensor, int8=int8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # batches run side by side instead
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Two embeddings of length 1 for each text, of the last layer and of the fourth: (len(texts), 2 * 384)."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(tokens), 2 * self._words.shape[1]), dtype=np.float32)

        def fill(members: list[int]) -> None:
            vectors[members] = self._pool(np.array([tokens[member] for member in members]))

        wanted = os.environ.get("OMP_NUM_THREADS", "")
        n_threads = int(wanted) if wanted.isdigit() else os.cpu_count() or 1
        with ThreadPoolExecutor(max(1, min(n_threads, _MOST_THREADS))) as pool:
            for _ in pool.map(fill, _batches([len(ids) for ids in tokens])):
                pass
        return vectors

    def _pool(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        inputs = self._words[ids] + self._places[: ids.shape[1]]
        layers: list[NDArray[np.float32]] = self._session.run(["hidden", "middle"], {"tokens": inputs})
        means = np.stack([layer.mean(axis=1) for layer in layers], axis=1)
        lengths = np.sqrt((means * means).sum(axis=2, keepdims=True))
        return np.asarray(means / np.maximum(lengths, np.float32(1e-12))).reshape(len(ids), -1)


@cache
def minilm(*, int8: bool) -> MiniLM:
    """The model, loaded once in a process."""
    try:
        return MiniLM(int8=int8)
    except RetrieverError:
        raise
    except Exception as error:
        raise model_error("minilm", "cannot be loaded", REINSTALL, error) from error


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The members of each batch, those of the longest texts first, so that no thread ends late."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for member, length in enumerate(lengths):
        by_length[length].append(member)
    for length in sorted(by_length, reverse=True):
        members, size = by_length[length], max(1, _BATCH // length)
        for start in range(0, len(members), size):
            yield members[start : start + size]
