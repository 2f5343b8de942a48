"""The retriever ``evidence-ranker``: a trained model, and picks that are to cover much between them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.encoding import embeddings
from evidencebench_core.retrievers.ranker.model import Ranker, ScoredPaper
from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model
from evidencebench_core.retrievers.ranker.reasons import explained_retrieval
from evidencebench_core.retrievers.ranker.selection import picks_of
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.retrievers.table import CROSS_VALIDATED
from evidencebench_core.retrievers.trained_on import TrainedOn


class EvidenceRanker:
    """Ranks by a model that ``evidencebench train-ranker`` fitted.

    ``weights`` is the digest of the model: filled in, and if given, it must be that model's.
    """

    name = "evidence-ranker"

    def __init__(self, *, model: str = "default", weights: str | None = None) -> None:
        if model == CROSS_VALIDATED:
            raise RetrieverError(
                "retriever evidence-ranker",
                "was cross-validated here: each instance was ranked by a model that had not seen its paper, and "
                "none of these models is kept",
                "Train again (evidencebench train-ranker) for new answers of this kind, or use model=default.",
            )
        folder = model_folder(model)
        self.model, digest = read_model(folder)
        if weights not in (None, digest):
            raise RetrieverError(
                str(folder),
                f"holds the model {digest}, not {weights}",
                "It was trained again since: run the retriever again with the model that is there.",
            )
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "weights": digest})

    @property
    def trained_on(self) -> TrainedOn:
        """The instances that the model has seen: its scores on them say nothing about others."""
        return self.model.trained_on

    @timed
    def retrieve(self, query: Query) -> Retrieval:
        """Rank, select, and say why: ``details["explanation"]`` is as of `explained_retrieval`."""
        if not query.sentences:
            return Retrieval((), (), ())
        vectors, identity = embeddings(self.model.encoder, (query.hypothesis, *query.sentences))
        if identity != self.model.encoder_identity:
            raise RetrieverError(
                "retriever evidence-ranker",
                f"was trained with another embedding model than {self.model.encoder} is now",
                "Train it again: evidencebench train-ranker.",
            )
        return retrieval_of(self.model, self.model.scored(query, vectors), query)


def retrieval_of(model: Ranker, paper: ScoredPaper, query: Query) -> Retrieval:
    """The retrieval for one budget from a scored paper."""
    picks = picks_of(paper.scores, paper.features.similarities, query.budget, model.selecting)
    chosen = [pick.sentence for pick in picks[: query.budget]]
    contributions = model.contributions(query, paper, chosen)
    return explained_retrieval(query, paper.scores, picks, paper.features.rows[chosen], contributions)
