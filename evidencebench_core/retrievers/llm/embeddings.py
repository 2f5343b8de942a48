"""Similarity of embeddings that a server computes, every sentence on its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.cosine import cosines, instruction_text
from evidencebench_core.retrievers.ranking import retrieval_by_score
from evidencebench_core.retrievers.table import Instruction

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM

_PER_CALL: Final = 64  # texts


class Embeddings:
    """Cosine of the hypothesis' and each sentence's embedding, by ``/v1/embeddings``; equal ones in paper order."""

    name = "embeddings"

    def __init__(
        self, *, model: str | None = None, instruction: Instruction = "none", store: Store | None = None
    ) -> None:
        if model is None:
            remedy = "Name one, as in --set model=text-embedding-3-small."
            raise SettingError("retriever embeddings", "has no model", remedy)
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "instruction": instruction})
        self._model, self._instruction, self._store = model, instruction, store

    def connected(self, store: Store) -> Embeddings:
        """The same, with its vectors kept in a store."""
        return Embeddings(model=self._model, instruction=self._instruction, store=store)

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """Rank by cosine and select the best."""
        started = perf_counter()
        instruction = instruction_text(self._instruction, query)
        texts = (instruction + query.hypothesis, *query.sentences)
        parts = [texts[start : start + _PER_CALL] for start in range(0, len(texts), _PER_CALL)]
        vectors = await asyncio.gather(*(llm.embed(self._model, part) for part in parts))
        details = {"instruction": instruction.strip()} if instruction else {}
        retrieval = retrieval_by_score(query, cosines(np.concatenate(vectors)), MappingProxyType(details))
        return replace(retrieval, seconds=perf_counter() - started)

    def retrieve(self, query: Query) -> Retrieval:
        """The same, asking the server that the environment names; vectors are kept in the store at hand."""
        from evidencebench_core.data.store import open_store
        from evidencebench_core.llm import LLM, answer_of

        llm = LLM(store=self._store or open_store())
        return answer_of(llm, lambda asking: self.answer(asking, query))
