"""The weights of a trained ranker in use: how much each feature and each group moves sentences within their paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.ranker.explanation import GROUP_OF
from evidencebench_core.retrievers.ranker.features import FEATURES
from evidencebench_core.retrievers.ranker.model import RankerModel


@dataclass(frozen=True, slots=True)
class FeatureWeight:
    """One feature: ``moves`` as in `Weighing`; ``direction`` says whether more of it raises the score.

    The direction is the mean over papers of the correlation of value and contribution, -1 to 1; ``None`` where the
    feature varies in no paper.
    """

    name: str
    moves: float
    direction: float | None


@dataclass(frozen=True, slots=True)
class Weighing:
    """How much each group, and each feature (the weightiest first), moves sentences within their paper.

    The mean distance of a sentence's contribution from the mean of its paper, in standard deviations of the score,
    over sentences, then over papers. What adds the same to every sentence of a paper changes no ranking, and so
    counts 0. What the embedding says is in the groups alone.
    """

    n_papers: int
    n_sentences: int
    groups: Mapping[str, float]
    features: tuple[FeatureWeight, ...]


def feature_weighing(model: RankerModel, papers: Iterable[tuple[Query, NDArray[np.float32]]]) -> Weighing:
    """Measure it on papers, which come one by one with their embeddings; without any, everything is 0."""
    groups = tuple(dict.fromkeys(GROUP_OF.values()))
    belongs = np.array([[member == group for group in groups] for member in GROUP_OF.values()], dtype=float)
    moves, group_moves = np.zeros(len(GROUP_OF)), np.zeros(len(groups))
    directions: dict[str, list[float]] = {name: [] for name in FEATURES}
    n_papers = n_sentences = 0
    for query, vectors in papers:
        paper = model.scored(query, vectors)
        adds = model.contributions(paper, slice(None))
        adds = adds - adds.mean(axis=0)
        moves += np.abs(adds).mean(axis=0)
        group_moves += np.abs(adds @ belongs).mean(axis=0)
        rows = paper.features.rows.astype(np.float64)
        for (name, amounts), values in zip(zip(FEATURES, adds.T, strict=False), rows.T, strict=True):
            if values.std() > 0 and amounts.std() > 0:
                directions[name].append(float(np.corrcoef(values, amounts)[0, 1]))
        n_papers += 1
        n_sentences += len(query.sentences)
    whole = max(n_papers, 1)
    features = [
        FeatureWeight(name, moved / whole, float(np.mean(directions[name])) if directions[name] else None)
        for name, moved in zip(FEATURES, moves.tolist(), strict=False)
    ]
    return Weighing(
        n_papers,
        n_sentences,
        dict(zip(groups, (group_moves / whole).tolist(), strict=True)),
        tuple(sorted(features, key=lambda one: -one.moves)),
    )
