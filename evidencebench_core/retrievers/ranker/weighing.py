"""What a trained ranker goes by: how much each feature and each group moves sentences within their paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import Focus
from evidencebench_core.retrievers.base import Query
from evidencebench_core.retrievers.ranker.examples import unit_vectors
from evidencebench_core.retrievers.ranker.explanation import GROUP_OF
from evidencebench_core.retrievers.ranker.features import FEATURES, features_of
from evidencebench_core.retrievers.ranker.model import COLUMNS, MEANING, RankerModel
from evidencebench_core.retrievers.ranker.retriever import scored_paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FeatureWeight", "Weighing", "weighed"]

_NAMES: Final = (*COLUMNS, MEANING)


@dataclass(frozen=True, slots=True)
class FeatureWeight:
    """One feature.

    Attributes
    ----------
    name : str
    moves : float
        As in `Weighing`.
    direction : float or None
        Mean over papers of the correlation of value and contribution, -1 to 1: 1 where more of it always
        raises the score. ``None`` where it varies in no paper.
    """

    name: str
    moves: float
    direction: float | None


@dataclass(frozen=True, slots=True)
class Weighing:
    """How much moves sentences within their paper.

    Attributes
    ----------
    n_papers, n_sentences : int
        What it was measured on.
    groups : mapping of str to float
        By group: the mean distance of a sentence's contribution from the mean of its paper, in standard
        deviations of the score, over sentences, then over papers. What adds the same to every sentence of a
        paper changes no ranking, and so counts 0.
    features : tuple of FeatureWeight
        The same of each feature, the weightiest first. What the embedding says is in the groups alone.
    """

    n_papers: int
    n_sentences: int
    groups: Mapping[str, float]
    features: tuple[FeatureWeight, ...]


def weighed(
    model: RankerModel, focus: Focus, papers: Iterable[tuple[Query, NDArray[np.float32]]]
) -> Weighing:
    """Measure it on papers, which come one by one.

    Parameters
    ----------
    model : RankerModel
    focus : {"all", "results"}
        A focus that the model was not trained for is answered by the one for all aspects.
    papers : iterable of (Query, array of shape (1 + n, dimensions))
        With the embeddings of the hypothesis and the sentences. Without any, everything is 0.
    """
    import numpy as np

    focus = focus if focus in model.focuses else "all"
    moves = np.zeros(len(_NAMES))
    by_group = dict.fromkeys(dict.fromkeys(GROUP_OF.values()), 0.0)
    directions: list[list[float]] = [[] for _ in FEATURES]
    n_papers = n_sentences = 0
    for query, vectors in papers:
        unit = unit_vectors(vectors)
        paper = scored_paper(model, focus, features_of(query, unit), unit)
        adds = model.contributions(focus, paper.columns, paper.embedding, paper.scored.spreads)
        adds = adds - adds.mean(axis=0)
        moves += np.abs(adds).mean(axis=0)
        for group in by_group:
            members = [place for place, name in enumerate(_NAMES) if GROUP_OF[name] == group]
            by_group[group] += float(np.abs(adds[:, members].sum(axis=1)).mean())
        for place, found in enumerate(directions):
            values, amounts = paper.columns[:, place].astype(np.float64), adds[:, place]
            if values.std() > 0 and amounts.std() > 0:
                found.append(float(np.corrcoef(values, amounts)[0, 1]))
        n_papers += 1
        n_sentences += len(query.sentences)
    whole = max(n_papers, 1)
    features = [
        FeatureWeight(
            name,
            float(moves[place]) / whole,
            sum(directions[place]) / len(directions[place]) if directions[place] else None,
        )
        for place, name in enumerate(FEATURES)
    ]
    return Weighing(
        n_papers,
        n_sentences,
        {group: total / whole for group, total in by_group.items()},
        tuple(sorted(features, key=lambda one: -one.moves)),
    )
