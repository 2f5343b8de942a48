"""A fitted ranker: how it scores the sentences of a paper, and what each column adds.

Members score, and their standardised scores are added up: three sums of regression trees, which learnt
whether a sentence is evidence, which share of the aspects it covers, and which share of the evidence it is; and a
linear model of the embeddings. A fifth counts nearly three times as much as they do together: a network over the same
columns, over an inner layer of the encoder, and over what the sentences before and after say. It is the one that
learnt to put the right sentence first; where few are picked the trees, which learnt sentence by sentence, are not
asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.ranker.features import (
    FEATURES,
    Features,
    features_of,
    settled,
    unit_vectors,
)
from evidencebench_core.retrievers.ranker.network import Network
from evidencebench_core.retrievers.ranker.selection import Selecting
from evidencebench_core.retrievers.ranker.trees import Trees
from evidencebench_core.retrievers.trained_on import TrainedOn

NETWORK_FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")
N_TOPICS: Final = 24
N_STYLES: Final = 48
COLUMNS: Final[tuple[str, ...]] = (
    *FEATURES,
    *(f"topic {number}" for number in range(1, N_TOPICS + 1)),
    *(f"shared topic {number}" for number in range(1, N_TOPICS + 1)),
)
"""Columns of all members but one: the features, then the embedding and its product with the hypothesis', projected."""

OWN_COLUMNS: Final[tuple[str, ...]] = (
    *COLUMNS,
    *(f"style {number}" for number in range(1, N_STYLES + 1)),
)
"""Those, and the embedding of the encoder's fourth layer, projected."""

NETWORK_COLUMNS: Final[tuple[str, ...]] = (
    *OWN_COLUMNS,
    *(f"{name} {where}" for where in ("before", "after") for name in OWN_COLUMNS[len(FEATURES) :]),
)
"""Columns of the network: those, and what is projected of the sentences before and after."""

MEANING: Final = "embedding"
"""The name under which the linear model of the embeddings, and the network's styles, explain themselves."""

AROUND: Final = "embedding of the sentences around"
"""The name under which the columns of the sentences before and after explain themselves."""

FEW: Final = 5
"""For fewer picks than these the trees are not asked."""


@dataclass(frozen=True, slots=True)
class Projection:
    """Principal axes of embeddings."""

    mean: NDArray[np.float32]
    axes: NDArray[np.float32]

    def of(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Coordinates, shape (n, axes)."""
        centred = vectors.astype(np.float64) - self.mean
        return np.asarray(centred @ self.axes.T.astype(np.float64), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Linear:
    """``(rows - means) @ weights``; the means are those of the training rows."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray((rows - self.means) @ self.weights)


def weights_for(
    weights: Mapping[str, float], trees: Collection[str], budget: int | None, few: int = FEW
) -> Mapping[str, float]:
    """The weights without those of the trees where the budget is below ``few``, unless nothing would be left."""
    asked = {name: weight for name, weight in weights.items() if name not in trees}
    return asked if budget is not None and budget < few and any(asked.values()) else weights


@dataclass(frozen=True, slots=True)
class FocusModel:
    """The members for one focus."""

    trees: Mapping[str, Trees]  # by what they learnt to predict
    embedding: Linear  # over `meaning`
    weights: Mapping[str, float]  # by member: the names of the trees, "embedding", "network"

    def weights_for(self, budget: int | None) -> Mapping[str, float]:
        """The weights of the members that are asked for so many picks, some of which are above 0."""
        return weights_for(self.weights, self.trees, budget)


@dataclass(frozen=True, slots=True)
class ScoredPaper:
    """A paper as a model sees it for a focus and a budget."""

    focus: Focus  # whose members scored: "all" where the model knows no results
    features: Features
    columns: NDArray[np.float32]  # see `tree_columns`
    inputs: NDArray[np.float32]  # see `NETWORK_COLUMNS`
    embedding: NDArray[np.float32]  # see `meaning`
    scores: NDArray[np.float64]  # weighted mean of the members' scores, each standardised over the paper
    weights: Mapping[str, float]  # by member
    spreads: Mapping[str, float]  # by member: what its raw scores were divided by


@dataclass(frozen=True, slots=True)
class RankerModel:
    """Everything that ranks a paper."""

    encoder: str  # the setting that names the embedding model
    encoder_identity: str  # the hash of its weights
    topics: Projection
    shared_topics: Projection
    styles: Projection
    network: Network  # an output for each of `NETWORK_FOCUSES`
    focuses: Mapping[Focus, FocusModel]  # "results" is absent if no instance had result aspects
    selecting: Selecting
    trained_on: TrainedOn
    notes: Mapping[str, object]  # versions, cross-validated scores and the like: JSON values

    def scored(
        self, query: Query, vectors: NDArray[np.float32], features: Features | None = None
    ) -> ScoredPaper:
        """A paper, scored for a query's focus and budget; ``features`` where they are known already.

        ``vectors`` are `embeddings` of the hypothesis and of the sentences, of any length.
        """
        unit = unit_vectors(vectors)
        features = features_of(query, unit) if features is None else features
        focus: Focus = query.focus if query.focus in self.focuses else "all"
        columns = tree_columns(features.rows, unit, self.topics, self.shared_topics)
        inputs = network_columns(columns, self.styles.of(unit[1:]))
        embedding, model = meaning(unit), self.focuses[focus]
        weights = model.weights_for(query.budget)
        raw = {name: trees.scores(columns) for name, trees in model.trees.items() if name in weights}
        raw["embedding"] = model.embedding.scores(embedding)
        raw["network"] = self.network.scores(inputs, NETWORK_FOCUSES.index(focus))
        spreads = {name: float(scores.std()) or 1.0 for name, scores in raw.items()}
        total = np.zeros(len(columns))
        for name, scores in raw.items():
            total += weights[name] * (scores - scores.mean()) / spreads[name]
        total = settled(total / sum(weights.values()))
        return ScoredPaper(focus, features, columns, inputs, embedding, total, weights, spreads)

    def contributions(self, paper: ScoredPaper, sentences: Sequence[int] | slice) -> NDArray[np.float64]:
        """The share of each column in the scores of some sentences, against an average training sentence.

        In units of the score, of shape (sentences, len(COLUMNS) + 2): SHAP values of the trees and integrated
        gradients of the network; the last two columns are `MEANING` and `AROUND`.
        """
        model, columns = self.focuses[paper.focus], paper.columns[sentences]
        whole = sum(paper.weights.values())
        units = {name: paper.weights[name] / whole / spread for name, spread in paper.spreads.items()}
        n_own, n_all = len(COLUMNS), len(OWN_COLUMNS)
        of_network = self.network.contributions(paper.inputs[sentences], NETWORK_FOCUSES.index(paper.focus))
        parts = of_network[:, :n_own], of_network[:, n_own:n_all], of_network[:, n_all:]
        adds = units["network"] * np.column_stack([parts[0], *(part.sum(axis=1) for part in parts[1:])])
        adds[:, n_own] += units["embedding"] * model.embedding.scores(paper.embedding[sentences])
        for name, trees in model.trees.items():
            if name in units:
                adds[:, :n_own] += units[name] * trees.contributions(columns)
        return adds


def meaning(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Columns of the linear model of the embeddings: shape (n, 3 * dimensions).

    The embedding, ten times its product with the hypothesis' (of which the cosine is the sum), and its difference
    from the mean of the paper's sentences. ``vectors`` are of length 1: hypothesis, then all sentences of a paper.
    """
    sentences = vectors[1:]
    mean = sentences.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.concatenate([sentences, 10 * sentences * vectors[0], sentences - mean], axis=1).astype(
        np.float32, copy=False
    )


def tree_columns(
    rows: NDArray[np.float32], vectors: NDArray[np.float32], topics: Projection, shared_topics: Projection
) -> NDArray[np.float32]:
    """The columns of `COLUMNS` for every sentence: its features, and its projected embedding."""
    projected = topics.of(vectors[1:]), shared_topics.of(vectors[1:] * vectors[0])
    return np.concatenate([rows, *projected], axis=1, dtype=np.float32)


def network_columns(columns: NDArray[np.float32], styles: NDArray[np.float32]) -> NDArray[np.float32]:
    """The columns of `NETWORK_COLUMNS` for all sentences of a paper, from those of the trees and the styles."""
    own = np.concatenate([columns, styles], axis=1, dtype=np.float32)
    said = own[:, len(FEATURES) :]
    none = np.zeros_like(said[:1])  # beyond the paper's ends
    before, after = np.concatenate([none, said[:-1]]), np.concatenate([said[1:], none])
    return np.concatenate([own, before, after], axis=1)
