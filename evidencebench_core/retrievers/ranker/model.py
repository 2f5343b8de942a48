"""A fitted ranker: what it weighs, how it scores the sentences of a paper, and why.

A model scores with five members and adds up their standardised scores: three sums of regression trees, which
learnt whether a sentence is evidence, which share of the aspects it covers, and which share of the evidence
it is; a linear model of the same features; and a linear model of the embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import Focus
from evidencebench_core.retrievers.ranker.features import FEATURES, Features
from evidencebench_core.retrievers.ranker.trees import Trees

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "COLUMNS",
    "N_TOPICS",
    "FocusModel",
    "RankerModel",
    "Selecting",
    "TrainedOn",
    "meaning",
    "projected",
    "table_of",
]

N_TOPICS: Final = 24
COLUMNS: Final[tuple[str, ...]] = (
    *FEATURES,
    *(f"topic {number}" for number in range(1, N_TOPICS + 1)),
    *(f"shared topic {number}" for number in range(1, N_TOPICS + 1)),
)
"""What trees look at: the features, then the embedding and its product with the hypothesis', projected."""

MEANING: Final = "embedding"
"""The name under which the linear model of the embeddings explains itself."""


@dataclass(frozen=True, slots=True)
class Selecting:
    """The numbers of the selection step; see `expected_coverage_order`."""

    sharpness: float = 2.0
    closeness: float = 1.5
    reach: float = 0.1


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """Which instances a model has seen.

    Attributes
    ----------
    dataset, dataset_sha256 : str
        Name and hash of the content.
    instance_ids, paper_ids : tuple of str
        Sorted; papers once each.
    """

    dataset: str
    dataset_sha256: str
    instance_ids: tuple[str, ...]
    paper_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """Principal axes of embeddings: ``(vectors - mean) @ axes.T``."""

    mean: NDArray[np.float32]
    axes: NDArray[np.float32]

    def of(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Coordinates, shape (n, N_TOPICS)."""
        import numpy as np

        return ((vectors - self.mean) @ self.axes.T).astype(np.float32, copy=False)


@dataclass(frozen=True, slots=True)
class Linear:
    """``rows @ weights``; ``means`` are those of the training rows, from which contributions count."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (rows - self.means) @ self.weights
        return found


@dataclass(frozen=True, slots=True)
class FocusModel:
    """The members for one focus, and how much each counts.

    Attributes
    ----------
    trees : mapping of str to Trees
        By what they learnt to predict.
    features, embedding : Linear
        Over `FEATURES`, and over `meaning`.
    weights : mapping of str to float
        By member: the names of the trees, ``"features"``, ``"embedding"``.
    """

    trees: Mapping[str, Trees]
    features: Linear
    embedding: Linear
    weights: Mapping[str, float]

    def members(
        self, columns: NDArray[np.float32], embedding: NDArray[np.float32]
    ) -> dict[str, NDArray[np.float64]]:
        """Each member's raw scores, one a sentence."""
        return {
            **{name: trees.scores(columns) for name, trees in self.trees.items()},
            "features": self.features.scores(columns[:, : len(FEATURES)]),
            "embedding": self.embedding.scores(embedding),
        }


@dataclass(frozen=True, slots=True)
class Scored:
    """The sentences of a paper, scored.

    Attributes
    ----------
    scores : array of shape (n,)
        Weighted mean of the members' scores, each standardised over the paper.
    spreads : mapping of str to float
        By member: what its raw scores were divided by.
    """

    scores: NDArray[np.float64]
    spreads: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankerModel:
    """Everything that ranks a paper.

    Attributes
    ----------
    encoder, encoder_identity : str
        The setting that names the embedding model, and the hash of its weights.
    topics, shared_topics : Projection
    focuses : mapping of Focus to FocusModel
        ``"results"`` is absent if no instance had result aspects.
    selecting : Selecting
    trained_on : TrainedOn
    notes : mapping of str to object
        What else the file tells: versions, date, cross-validated scores. JSON values.
    """

    encoder: str
    encoder_identity: str
    topics: Projection
    shared_topics: Projection
    focuses: Mapping[Focus, FocusModel]
    selecting: Selecting
    trained_on: TrainedOn
    notes: Mapping[str, object]

    def scored(self, focus: Focus, columns: NDArray[np.float32], embedding: NDArray[np.float32]) -> Scored:
        """Score the sentences of a paper.

        Parameters
        ----------
        columns : array of shape (n, len(COLUMNS))
            See `table_of`.
        embedding : array of shape (n, 3 * dimensions)
            See `meaning`.
        """
        import numpy as np

        model = self.focuses[focus]
        total = np.zeros(len(columns))
        spreads: dict[str, float] = {}
        for name, raw in model.members(columns, embedding).items():
            spreads[name] = float(raw.std()) or 1.0
            total += model.weights[name] * (raw - raw.mean()) / spreads[name]
        return Scored(total / sum(model.weights.values()), spreads)

    def contributions(
        self,
        focus: Focus,
        columns: NDArray[np.float32],
        embedding: NDArray[np.float32],
        spreads: Mapping[str, float],
    ) -> NDArray[np.float64]:
        """What each column adds to the scores of some sentences, against an average training sentence.

        Returns
        -------
        array of shape (rows, len(COLUMNS) + 1)
            In units of the score; the last column is that of the linear model of the embeddings.
        """
        import numpy as np

        model = self.focuses[focus]
        whole = sum(model.weights.values())
        found = np.zeros((len(columns), len(COLUMNS) + 1))
        for name, trees in model.trees.items():
            found[:, :-1] += model.weights[name] / whole / spreads[name] * trees.contributions(columns)
        n = len(FEATURES)
        linear = (columns[:, :n] - model.features.means) * model.features.weights
        found[:, :n] += model.weights["features"] / whole / spreads["features"] * linear
        found[:, -1] = (
            model.weights["embedding"] / whole / spreads["embedding"] * model.embedding.scores(embedding)
        )
        return found


def meaning(vectors: NDArray[np.float32], centre: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """What the linear model of the embeddings looks at.

    Parameters
    ----------
    vectors : array of shape (1 + n, dimensions)
        Of length 1: hypothesis, then sentences.
    centre : array of shape (dimensions,), optional
        Mean of the paper's sentences, where these are not all of them.

    Returns
    -------
    array of shape (n, 3 * dimensions)
        The embedding, ten times its product with the hypothesis' (of which the cosine is the sum), and its
        difference from the paper's mean.
    """
    import numpy as np

    sentences = vectors[1:]
    mean = sentences.mean(axis=0) if centre is None else centre
    return np.concatenate([sentences, 10 * sentences * vectors[0], sentences - mean], axis=1).astype(
        np.float32, copy=False
    )


def projected(
    vectors: NDArray[np.float32], topics: Projection, shared_topics: Projection
) -> NDArray[np.float32]:
    """The columns of `COLUMNS` behind the features, for every sentence."""
    import numpy as np

    return np.concatenate([topics.of(vectors[1:]), shared_topics.of(vectors[1:] * vectors[0])], axis=1)


def table_of(
    features: Features, vectors: NDArray[np.float32], topics: Projection, shared_topics: Projection
) -> NDArray[np.float32]:
    """The columns of `COLUMNS` for every sentence."""
    import numpy as np

    return np.concatenate(
        [features.rows, projected(vectors, topics, shared_topics)], axis=1, dtype=np.float32
    )
