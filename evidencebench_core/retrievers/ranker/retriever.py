"""The retriever ``evidence-ranker``: a trained model, and picks that are to cover much between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranker import CROSS_VALIDATED
from evidencebench_core.retrievers.ranker.explanation import explanations
from evidencebench_core.retrievers.ranker.features import Features, features_of, unit_vectors
from evidencebench_core.retrievers.ranker.model import (
    RankerModel,
    Scored,
    Selecting,
    TrainedOn,
    meaning,
    tree_columns,
)
from evidencebench_core.retrievers.ranker.model_file import default_model_path, read_model
from evidencebench_core.retrievers.ranker.selection import Pick, expected_coverage_order

_CHOSEN_SO = 30  # picks that are chosen one by one; behind them the order of the scores is kept


class EvidenceRanker:
    """Ranks by a model that ``evidencebench train-ranker`` fitted.

    Parameters
    ----------
    model : str
        ``"default"``, the file that ``train-ranker`` writes unless told otherwise, or a path.
    weights : str, optional
        Filled in: the digest of the model file. If given, it must be that file's.

    Raises
    ------
    RetrieverError
        If the file is not there or is no model.
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
        path = default_model_path() if model == "default" else Path(model).expanduser()
        self.model, digest = read_model(path)
        if weights not in (None, digest):
            raise RetrieverError(
                str(path),
                f"holds the model {digest}, not {weights}",
                "It was trained again since: run the retriever again with the model that is there.",
            )
        self.settings: Mapping[str, Setting] = MappingProxyType({"model": model, "weights": digest})

    @property
    def trained_on(self) -> TrainedOn:
        """The instances that the model has seen: its scores on them say nothing about others."""
        return self.model.trained_on

    def retrieve(self, query: Query) -> Retrieval:
        """Rank, select, and say why.

        ``details["explanation"]`` is JSON; see `explanations`.

        Raises
        ------
        RetrieverError
            If the embedding model cannot be loaded, or is another than the ranker was trained with.
        """
        started = perf_counter()
        from evidencebench_core.retrievers.encoding import embeddings

        if not query.sentences:
            return Retrieval((), (), (), perf_counter() - started)
        vectors, encoder = embeddings(self.model.encoder, (query.hypothesis, *query.sentences))
        if encoder.identity != self.model.encoder_identity:
            raise RetrieverError(
                "retriever evidence-ranker",
                f"was trained with another embedding model than {self.model.encoder} is now",
                "Train it again: evidencebench train-ranker.",
            )
        return retrieval_of(self.model, scored_paper(self.model, query, vectors), query, started)


@dataclass(frozen=True, slots=True)
class ScoredPaper:
    """A paper as a model sees it for a focus, whatever the budget.

    Attributes
    ----------
    focus : Focus
        Whose members scored: ``"all"`` where the model knows no results.
    features : Features
    columns, embedding : arrays
        See `tree_columns` and `meaning`.
    scored : Scored
    """

    focus: Focus
    features: Features
    columns: NDArray[np.float32]
    embedding: NDArray[np.float32]
    scored: Scored


def scored_paper(
    model: RankerModel, query: Query, vectors: NDArray[np.float32], features: Features | None = None
) -> ScoredPaper:
    """A paper, scored for the focus of a query.

    Parameters
    ----------
    vectors : array of shape (1 + n, dimensions)
        Embeddings of the hypothesis and of the sentences.
    features : Features, optional
        Where they are known, from another focus or model.
    """
    unit = unit_vectors(vectors)
    features = features_of(query, unit) if features is None else features
    focus: Focus = query.focus if query.focus in model.focuses else "all"
    columns = tree_columns(features.rows, unit, model.topics, model.shared_topics)
    embedding = meaning(unit)
    return ScoredPaper(focus, features, columns, embedding, model.scored(focus, columns, embedding))


def picks_of(
    scores: NDArray[np.float64], similarities: NDArray[np.float32], budget: int | None, selecting: Selecting
) -> tuple[Pick, ...]:
    """The head of the ranking: as many picks as the budget, and at least 30, are chosen one by one."""
    return expected_coverage_order(scores, similarities, max(_CHOSEN_SO, budget or 0), selecting)


def retrieval_of(model: RankerModel, paper: ScoredPaper, query: Query, started: float) -> Retrieval:
    """The retrieval for one budget from a scored paper."""
    scores = paper.scored.scores
    picks = picks_of(scores, paper.features.similarities, query.budget, model.selecting)
    rows = [pick.sentence for pick in picks[: query.budget]]
    columns = paper.columns[rows]
    adds = model.contributions(paper.focus, columns, paper.embedding[rows], paper.scored.spreads)
    return retrieval_of_picks(query, scores, picks, started, columns, adds)


def retrieval_of_picks(
    query: Query,
    scores: NDArray[np.float64],
    picks: tuple[Pick, ...],
    started: float,
    columns: NDArray[np.float32],
    adds: NDArray[np.float64],
) -> Retrieval:
    """The picks in their order, explained, then the rest of the pool by score.

    The scores of the retrieval are those of the model: along the picks they need not fall.
    """
    first = dict.fromkeys(pick.sentence for pick in picks)
    ranking = tuple(first | dict.fromkeys(np.argsort(-scores, kind="stable").tolist()))
    explanation = explanations(picks[: query.budget], scores, columns, adds)
    return Retrieval(
        ranking=ranking,
        scores=tuple(round(float(scores[index]), 6) for index in ranking),
        selection=ranking if query.budget is None else ranking[: query.budget],
        seconds=perf_counter() - started,
        details=MappingProxyType({"explanation": json.dumps(explanation)}),
    )
