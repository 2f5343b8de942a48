"""The retriever ``evidence-ranker``: a trained model, and picks that are to cover much between them."""

from __future__ import annotations

from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import Query, Retrieval, Retriever
from evidencebench_core.retrievers.encoding import embeddings
from evidencebench_core.retrievers.ranker.model import Ranker
from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model
from evidencebench_core.retrievers.ranker.reasons import explained_retrieval
from evidencebench_core.retrievers.ranker.selection import picks_of
from evidencebench_core.retrievers.ranking import ALL, timed
from evidencebench_core.retrievers.trained_on import TrainedOn

CROSS_VALIDATED: Final = "cross-validated"
"""The setting ``model`` of a run whose answers ``train-ranker`` got from models of other folds."""


class EvidenceRanker(Retriever):
    """Ranks by a model that ``evidencebench train-ranker`` fitted."""

    name = "evidence-ranker"
    summary = (
        "Learnt from gold evidence: a small network over structure, words and meaning, and picks that cover much "
        f"between them. Needs a model: evidencebench train-ranker. {ALL}"
    )
    derived = ("weights",)

    model: str = Field(
        "default",
        min_length=1,
        description="The model's folder: default, the one train-ranker wrote last, or a path.",
    )
    weights: str | None = Field(None, description="The digest of the model.")
    _ranker: Ranker = PrivateAttr()

    def prepared(self) -> Self:
        if self.model == CROSS_VALIDATED:
            raise RetrieverError(
                "retriever evidence-ranker",
                "was cross-validated here: each instance was ranked by a model that had not seen its paper, and "
                "none of these models is kept",
                "Train again (evidencebench train-ranker) for new answers of this kind, or use model=default.",
            )
        ranker, digest = read_model(model_folder(self.model))
        retriever = self._with("weights", digest)
        retriever._ranker = ranker
        return retriever

    @property
    def training(self) -> tuple[TrainedOn, ...]:
        return (self._ranker.trained_on,)

    @timed
    def retrieve(self, query: Query) -> Retrieval:
        if not query.sentences:
            return Retrieval((), (), ())
        ranker = self._ranker
        vectors, identity = embeddings(ranker.encoder, (query.hypothesis, *query.sentences))
        if identity != ranker.encoder_identity:
            raise RetrieverError(
                "retriever evidence-ranker",
                f"was trained with another embedding model than {ranker.encoder} is now",
                "Train it again: evidencebench train-ranker.",
            )
        return retrieval_of(ranker, query, vectors)


@timed
def retrieval_of(model: Ranker, query: Query, vectors: NDArray[np.float32]) -> Retrieval:
    """The retrieval from the vectors of the hypothesis and the sentences."""
    paper = model.scored(query, vectors)
    picks = picks_of(paper.scores, paper.features.similarities, query.budget, model.selecting)
    chosen = list(picks[: query.budget])
    contributions = model.contributions(query, paper, chosen)
    return explained_retrieval(query, paper.scores, picks, paper.features.rows[chosen], contributions)
