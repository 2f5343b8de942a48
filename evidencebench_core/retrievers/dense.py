"""Similarity of sentence embeddings, every sentence on its own (spec rule 21)."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.cosine import INSTRUCTIONS, Instruction, cosines, instruction_for
from evidencebench_core.retrievers.model_folder import checked_name
from evidencebench_core.retrievers.ranking import ranked

if TYPE_CHECKING:
    from evidencebench_core.retrievers.encoding.backend import BackendName

__all__ = ["INSTRUCTIONS", "Dense", "Instruction"]


class Dense:
    """Cosine of the hypothesis' and each sentence's embedding.

    Cosines are rounded to six decimals, below which the arithmetic of a batch decides; equal ones
    keep the order of the paper. ``details`` name the model's weights, the backend that ran them here,
    and the instruction used.

    Parameters
    ----------
    model : str
        ``"minilm"``, a local folder or a hub name; see `model_named`.
    instruction : {"none", "er", "result", "auto"}
        Text put before the hypothesis, never before a sentence. ``auto`` follows the paper: the
        Result tasks get the result instruction, the others the ER one. The default is ``none``:
        small models such as MiniLM were not trained to follow instructions.
    backend : {"float32", "auto", "torch", "onnx", "onnx-int8"}
        What runs the model: ``torch`` in float32 by sentence-transformers; ``onnx`` the same, quicker;
        ``onnx-int8`` quicker still, with cosines that differ in the third decimal; ``auto`` the quickest
        that agrees well enough with float32 on this machine; ``float32``, the default, the quickest that
        gives the same to the fourth decimal. See `encoding.backend.resolved`.
    """

    name = "dense"

    def __init__(
        self, *, model: str = "minilm", instruction: Instruction = "none", backend: BackendName = "float32"
    ) -> None:
        checked_name(model)  # before a run is made for it
        self.settings: Mapping[str, Setting] = MappingProxyType(
            {"model": model, "instruction": instruction, "backend": backend}
        )
        self._model, self._instruction = model, instruction
        self._backend: BackendName = backend

    def retrieve(self, query: Query) -> Retrieval:
        """Rank by cosine and select the best.

        Raises
        ------
        RetrieverError
            If the model cannot be found, loaded or run.
        """
        started = perf_counter()
        from evidencebench_core.retrievers.encoder import embedded

        instruction = INSTRUCTIONS[instruction_for(self._instruction, query)]
        vectors, model = embedded(
            self._model, (instruction + query.hypothesis, *query.sentences), self._backend
        )
        details = {"model": model.identity, "backend": model.backend}
        if instruction:
            details["instruction"] = instruction.strip()
        return ranked(query, cosines(vectors), started, MappingProxyType(details))
