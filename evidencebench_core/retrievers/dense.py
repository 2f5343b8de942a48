"""Similarity of sentence embeddings, every sentence on its own (spec rule 21)."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Final, Literal

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranking import ranked

__all__ = ["INSTRUCTIONS", "Dense", "Instruction"]

Instruction = Literal["none", "er", "result", "auto"]

INSTRUCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "none": "",
        "er": "From a biomedical study, find the most telling details that together make up "
        "the evidence on this hypothesis: ",
        "result": "From a biomedical study, find the most telling outcomes, results and analyses "
        "that together make up the evidence on this hypothesis: ",
    }
)
"""What stands before the hypothesis. Our wording, after the paper's appendix E.6."""


class Dense:
    """Cosine of the hypothesis' and each sentence's embedding.

    Cosines are rounded to six decimals, below which the arithmetic of a batch decides; equal ones
    keep the order of the paper. ``details`` name the model's weights and the instruction used.

    Parameters
    ----------
    model : str
        ``"minilm"``, a local folder or a hub name; see `model_named`.
    instruction : {"none", "er", "result", "auto"}
        Text put before the hypothesis, never before a sentence. ``auto`` follows the paper: the
        Result tasks get the result instruction, the others the ER one. The default is ``none``:
        small models such as MiniLM were not trained to follow instructions.
    """

    name = "dense"

    def __init__(self, *, model: str = "minilm", instruction: Instruction = "none") -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "instruction": instruction})
        self._model, self._instruction = model, instruction

    def retrieve(self, query: Query) -> Retrieval:
        """Rank by cosine and select the best.

        Raises
        ------
        RetrieverError
            If the model cannot be found, loaded or run.
        """
        started = perf_counter()
        import numpy as np

        from evidencebench_core.retrievers.encoder import embedded

        instruction = INSTRUCTIONS[self._instruction_for(query)]
        vectors, model = embedded(self._model, (instruction + query.hypothesis, *query.sentences))
        wide = vectors.astype(np.float64)
        lengths = np.sqrt((wide * wide).sum(axis=1))
        # summed row by row: a matrix product may give equal rows different last digits
        products = (wide[1:] * wide[0]).sum(axis=1)
        norms = lengths[1:] * lengths[0]
        cosines = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
        details = {"model": model.identity}
        if instruction:
            details["instruction"] = instruction.strip()
        return ranked(
            query, [round(float(cosine), 6) for cosine in cosines], started, MappingProxyType(details)
        )

    def _instruction_for(self, query: Query) -> str:
        if self._instruction != "auto":
            return self._instruction
        return "result" if query.focus == "results" else "er"
