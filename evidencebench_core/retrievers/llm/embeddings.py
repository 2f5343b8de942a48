"""Similarity of embeddings that a server computes, every sentence on its own (spec rule 21)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from evidencebench_core.errors import SettingError
from evidencebench_core.llm.conversation import Ask, Conversation, answer_of
from evidencebench_core.llm.request import EmbeddingRequest
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.cosine import Instruction, cosines, instruction_text
from evidencebench_core.retrievers.ranking import retrieval_by_score

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_TOGETHER: Final = 64  # texts a call


class Embeddings:
    """Cosine of the hypothesis' and each sentence's embedding, by ``/v1/embeddings``.

    Vectors are kept in the store text by text: what is known is not sent again. Equal cosines keep the
    order of the paper.
    """

    name = "embeddings"

    def __init__(self, *, model: str | None = None, instruction: Instruction = "none") -> None:
        if model is None:
            remedy = "Name one, as in --set model=text-embedding-3-small."
            raise SettingError("retriever embeddings", "has no model", remedy)
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "instruction": instruction})
        self._model, self._instruction = model, instruction

    def connected(self, store: Store) -> Self:
        """Itself."""
        return self

    def conversation(self, query: Query) -> Conversation[Retrieval]:
        """Rank by cosine and select the best; all texts in one round of calls."""
        started = perf_counter()
        instruction = instruction_text(self._instruction, query)
        texts = (instruction + query.hypothesis, *query.sentences)
        parts = [texts[start : start + _TOGETHER] for start in range(0, len(texts), _TOGETHER)]
        vectors = yield [
            Ask(f"embeddings {number} of {len(parts)}", EmbeddingRequest(self._model, part))
            for number, part in enumerate(parts, start=1)
        ]
        details = {"instruction": instruction.strip()} if instruction else {}
        scores = cosines(np.concatenate(vectors))
        retrieval = retrieval_by_score(query, scores, MappingProxyType(details))
        return replace(retrieval, seconds=perf_counter() - started)

    def retrieve(self, query: Query) -> Retrieval:
        """The same, asking the server and the store that the environment names."""
        from evidencebench_core.data.store import open_store
        from evidencebench_core.llm import LLM, AnswerCache

        return answer_of(LLM(answers=AnswerCache(open_store())), self.conversation(query))
