"""A fitted ranker: how it scores the sentences of a paper.

A few small networks, side by side as one, read a row of columns a sentence: its features, what its embedding says and
shares with the hypothesis' on principal axes, and what those of the sentences before and after say.
A sum of trees, which learnt how much of the evidence a sentence is, counts a little beside them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.encoding import TrainedOn
from evidencebench_core.retrievers.ranker.features import FEATURES, Features, standardised
from evidencebench_core.retrievers.ranker.selection import Selecting

FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")
"""The outputs of the network, in order."""

N_TOPICS: Final = 24
TOPICS: Final[tuple[str, ...]] = tuple(
    f"{kind} {number}" for kind in ("topic", "shared topic") for number in range(1, N_TOPICS + 1)
)
COLUMNS: Final[tuple[str, ...]] = (
    *FEATURES,
    *TOPICS,
    *(f"{name} {where}" for where in ("before", "after") for name in TOPICS),
)
N_OWN: Final = len(FEATURES) + len(TOPICS)
"""How many columns are of the sentence itself."""

_COSINE: Final = FEATURES.index("cosine")
LARGEST_INPUT: Final = 4.0  # standard deviations

_Array = NDArray[np.float64]


class Projection(NamedTuple):
    """Principal axes of embeddings, scaled so that coordinates are about 1 in size."""

    mean: NDArray[np.float32]  # (dimensions,)
    axes: NDArray[np.float32]  # (N_TOPICS, dimensions)

    def of(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Coordinates, shape (n, N_TOPICS)."""
        return np.asarray((vectors - self.mean) @ self.axes.T, dtype=np.float32)


class Network(NamedTuple):
    """One layer of rectified units beside a linear model, over standardised columns."""

    means: NDArray[np.float32]  # (columns,)
    scales: NDArray[np.float32]  # (columns,)
    hidden: NDArray[np.float32]  # (columns, units)
    bias: NDArray[np.float32]  # (units,)
    out: NDArray[np.float32]  # (units, focuses)
    linear: NDArray[np.float32]  # (columns, focuses)

    def scores(self, columns: NDArray[np.float32], output: int) -> _Array:
        """One number a row."""
        inputs = np.clip((columns - self.means) / self.scales, -LARGEST_INPUT, LARGEST_INPUT)
        units = np.maximum(inputs @ self.hidden + self.bias, 0)
        return np.asarray(inputs @ self.linear[:, output] + units @ self.out[:, output], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Ranker:
    """Everything that ranks a paper."""

    encoder: str  # the embedding model
    encoder_identity: str
    topics: Projection  # of a sentence's embedding
    shared_topics: Projection  # of its product with the hypothesis'
    network: Network
    trees: Mapping[Focus, str]  # LightGBM's text of a sum of regression trees over the first `N_OWN` columns
    trained_on: TrainedOn = field(default_factory=TrainedOn)
    selecting: Selecting = field(default_factory=Selecting)
    cosine_weight: float = 0.0  # of closeness to the hypothesis, beside what was learnt, both standardised
    notes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    trees_share: ClassVar[float] = 0.15  # how much the trees' standardised scores count beside the network's
    trees_least_budget: ClassVar[int] = 5  # for fewer picks of result aspects the trees are not asked

    def scores(self, query: Query, features: Features, unit: NDArray[np.float32]) -> _Array:
        """The scores of a paper's sentences, shape (n,), standardised over the paper.

        ``unit`` are the `unit_vectors` of hypothesis and sentences.
        """
        columns = columns_of(features, unit, self.topics, self.shared_topics)
        scores = standardised(self.network.scores(columns, FOCUSES.index(query.focus)))
        if query.focus == "all" or query.budget is None or query.budget >= self.trees_least_budget:
            trees = standardised(_booster(self.trees[query.focus]).predict(columns[:, :N_OWN], num_threads=1))
            scores = (1 - self.trees_share) * scores + self.trees_share * trees
        cosine = standardised(features.rows[:, _COSINE].astype(np.float64))
        return standardised(standardised(scores) + self.cosine_weight * cosine)


@lru_cache(maxsize=4)
def _booster(text: str) -> Any:
    import lightgbm

    return lightgbm.Booster(model_str=text)


def columns_of(
    features: Features, unit: NDArray[np.float32], topics: Projection, shared_topics: Projection
) -> NDArray[np.float32]:
    """The columns of `COLUMNS` for every sentence; ``unit`` are the `unit_vectors` of hypothesis and sentences."""
    coordinates = np.concatenate([topics.of(unit[1:]), shared_topics.of(unit[1:] * unit[0])], axis=1)
    beyond = np.zeros_like(coordinates[:1])  # the paper's ends
    before, after = np.concatenate([beyond, coordinates[:-1]]), np.concatenate([coordinates[1:], beyond])
    return np.concatenate([features.rows, coordinates, before, after], axis=1, dtype=np.float32)
