"""The retriever ``evidence-ranker``: a trained model, and picks that are to cover much between them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import ALL, Query, Retrieval, Retriever
from evidencebench_core.retrievers.encoding import Encoder
from evidencebench_core.retrievers.ranker.features import Features, features_at
from evidencebench_core.retrievers.ranker.model import Ranker
from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model
from evidencebench_core.retrievers.ranker.selection import picks_of, ranking_of_picks
from evidencebench_core.retrievers.settings import Settings

CROSS_VALIDATED: Final = "cross-validated"
"""The setting ``model`` of a run whose answers ``train-ranker`` got from models of other folds."""


class EvidenceRankerSettings(Settings):
    model: str = Field(
        "default",
        min_length=1,
        description="The model's folder, or default: the one train-ranker wrote last, else the one shipped.",
    )


class EvidenceRanker(Retriever):
    """Ranks by a model that ``evidencebench train-ranker`` fitted.

    For few picks of result aspects it asks no trees (`Ranker.trees_least_budget`), so the budget makes a difference.
    """

    name = "evidence-ranker"
    summary = (
        "Learnt from gold evidence: a small network over structure, words and meaning, and picks that cover much "
        f"between them. The model that comes with it has learnt from trials; train-ranker trains another. {ALL}"
    )
    settings_class = EvidenceRankerSettings
    by_budget = True
    by_focus = True

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        super().__init__(settings, **needs)
        place = f"retriever {self.name}"
        if self.settings.model == CROSS_VALIDATED:
            problem = "was cross-validated here, and none of the models of its folds is kept"
            raise RetrieverError(
                place, problem, "Train again: evidencebench train-ranker, or use model=default."
            )
        self.ranker, weights = read_model(model_folder(self.settings.model))
        self.encoder = Encoder(self.ranker.encoder)
        if self.encoder.identity != self.ranker.encoder_identity:
            problem = f"was trained with another embedding model than {self.ranker.encoder} is now"
            raise RetrieverError(place, problem, "Train it again: evidencebench train-ranker.")
        self.basis = {"weights": weights, "learnt from": self.ranker.trained_on.dataset}
        self.training = (self.ranker.trained_on,)

    def rank(self, query: Query) -> Retrieval:
        return ranking_of(self.ranker, query, *features_at(self.encoder, query))


def ranking_of(model: Ranker, query: Query, features: Features, unit: NDArray[np.float32]) -> Retrieval:
    """The ranking from the features of the paper and the `unit_vectors` of hypothesis and sentences."""
    scores = model.scores(query, features, unit)
    return ranking_of_picks(scores, picks_of(scores, features.similarities, model.selecting, query.budget))
