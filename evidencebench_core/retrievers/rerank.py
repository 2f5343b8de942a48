"""A cross-encoder, which reads hypothesis and sentence together, over the whole pool or the first of a ranking."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from pydantic import Field

from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.base import ALL, Query, Retrieval, ranking_by_score
from evidencebench_core.retrievers.encoding import load_encoder, model_identity
from evidencebench_core.retrievers.hybrid import ComposedRetriever, MembersSettings
from evidencebench_core.retrievers.settings import Settings


class RerankSettings(MembersSettings):
    owner = "rerank"

    model: str | None = Field(
        None, description="A sentence-transformers cross-encoder: a folder or a Hugging Face name."
    )
    of: tuple[str, ...] = Field(
        (), description="The retriever whose first sentences are ranked again; none: the whole paper."
    )
    n: int = Field(50, ge=1, description="How many of its first sentences.")


class Rerank(ComposedRetriever):
    """Scores of a sentence-transformers ``CrossEncoder``, which sees hypothesis and sentence together.

    Behind the first ``n`` sentences of another retriever stand its others, in its order, with scores below.
    """

    name = "rerank"
    summary = f"A cross-encoder over the whole paper, or over the first sentences of another retriever. {ALL}"
    settings_class = RerankSettings
    settings: RerankSettings

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        super().__init__(settings, **needs)
        if self.settings.model is None:
            remedy = "Name one, as in --set model=cross-encoder/ms-marco-MiniLM-L6-v2."
            raise SettingError("retriever rerank", "has no model", remedy)
        if len(self.members) > 1:
            raise SettingError("retriever rerank", "has two retrievers to rank again", "Name one, or none.")
        self.model = self.settings.model
        self.basis = {**self.basis, "model": model_identity(self.model)}

    def rank(self, query: Query) -> Retrieval:
        order = list(range(len(query.sentences)))
        for member in self.members.values():
            order = list(member.rank(query).ranking)
        head = order[: self.settings.n] if self.members else order
        pairs = [(query.hypothesis, query.sentences[index]) for index in head]
        try:
            encoder = load_encoder(self.model, "CrossEncoder")
            scores = encoder.predict(pairs, show_progress_bar=False) if pairs else []
            of_head = np.asarray(scores, dtype=float).reshape(len(head))
        except (RuntimeError, ValueError, IndexError) as error:
            problem = f"could not score the sentences ({' '.join(str(error).split())[:120]})"
            raise RetrieverError(
                f"model {self.model}", problem, "Give a cross-encoder with one output."
            ) from error
        values = np.full(len(query.sentences), -np.inf)
        values[order] = of_head.min(initial=0.0) - 1.0 - np.arange(len(order))
        values[head] = of_head
        return ranking_by_score(values, MappingProxyType({"model": self.basis["model"]}))
