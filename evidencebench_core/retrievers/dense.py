from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.cosine import cosines, instruction_text
from evidencebench_core.retrievers.encoding import embeddings, model_identity
from evidencebench_core.retrievers.ranking import retrieval_by_score
from evidencebench_core.retrievers.table import Instruction


class Dense:
    """Cosine of the hypothesis' and each sentence's embedding, every sentence on its own.

    Cosines are rounded to six decimals, below which the arithmetic of a batch decides; equal ones
    keep the order of the paper. ``details`` name the model's weights and the instruction used. The instruction
    stands before the hypothesis, never before a sentence; there is none unless asked for, as small models such as
    MiniLM were not trained to follow instructions.
    """

    name = "dense"

    def __init__(self, *, model: str = "minilm", instruction: Instruction = "none") -> None:
        model_identity(model)  # an unknown one is an error before a run is made for it
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "instruction": instruction})
        self._model, self._instruction = model, instruction

    def retrieve(self, query: Query) -> Retrieval:
        """Rank by cosine and select the best."""
        instruction = instruction_text(self._instruction, query)
        vectors, identity = embeddings(self._model, (instruction + query.hypothesis, *query.sentences))
        details = {"model": identity}
        if instruction:
            details["instruction"] = instruction.strip()
        return retrieval_by_score(query, cosines(vectors), MappingProxyType(details))
