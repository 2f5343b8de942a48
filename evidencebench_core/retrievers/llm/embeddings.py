"""Similarity of embeddings that a server computes, every sentence on its own (spec rule 21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.cosine import Instruction, cosines, instruction_text
from evidencebench_core.retrievers.llm.rehearsal import Planned, Rehearsal
from evidencebench_core.retrievers.llm.session import Session, default_session
from evidencebench_core.retrievers.ranking import retrieval_by_score, timed


class Embeddings:
    """Cosine of the hypothesis' and each sentence's embedding, by ``/v1/embeddings``.

    Vectors are kept in the store text by text: what is known is not sent again. Equal cosines keep the
    order of the paper.
    """

    name = "embeddings"
    concurrency = 8

    def __init__(
        self, *, model: str | None = None, instruction: Instruction = "none", session: Session | None = None
    ) -> None:
        if model is None:
            raise SettingError(
                "retriever embeddings", "has no model", "Name one, as in --set model=text-embedding-3-small."
            )
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "instruction": instruction})
        self._model, self._instruction = model, instruction
        self._session = session

    def connected(self, session: Session) -> Embeddings:
        """The same, asking through a session."""
        return Embeddings(model=self._model, instruction=self._instruction, session=session)

    @timed
    def retrieve(self, query: Query) -> Retrieval:
        """Rank by cosine and select the best."""
        if self._session is None:
            return self.connected(default_session()).retrieve(query)
        self._session.check()
        instruction = instruction_text(self._instruction, query)
        texts = (instruction + query.hypothesis, *query.sentences)
        vectors = self._session.client.embed(self._model, texts, fresh=self._session.fresh)
        details = {"instruction": instruction.strip()} if instruction else {}
        return retrieval_by_score(query, cosines(vectors), MappingProxyType(details))

    def rehearsed(self, queries: Sequence[Query]) -> Planned:
        """The cost of one instance's queries; vectors already kept cost nothing."""
        real = self._session or default_session()
        rehearsal = Rehearsal(real.client, real.fresh)
        stand_in = self.connected(Session(rehearsal, real.store))
        for query in queries:
            stand_in.retrieve(query)
        return rehearsal.planned
