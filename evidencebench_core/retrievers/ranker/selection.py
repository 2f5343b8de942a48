"""From one score a sentence to the picks that are expected to cover most between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Retrieval

ONE_BY_ONE: Final = 30
"""Picks that are always chosen so; behind them the order of the scores is kept."""


@dataclass(frozen=True, slots=True)
class Selecting:
    """The numbers of the selection step; see `picks_of`."""

    sharpness: float = 2.0
    closeness: float = 1.5
    overlap_weight: float = 0.1


def ranking_of_picks(scores: NDArray[np.float64], picks: Sequence[int]) -> Retrieval:
    """The picks in their order, then the rest of the pool by score: along the picks the scores need not fall."""
    rest = np.argsort(-scores, kind="stable").tolist()
    ranking = tuple(dict.fromkeys((*picks, *rest)))
    return Retrieval(ranking, tuple(round(float(scores[index]), 6) for index in ranking))


def picks_of(
    scores: NDArray[np.float64],
    similarities: NDArray[np.float32],
    selecting: Selecting,
    budget: int | None = None,
) -> tuple[int, ...]:
    """The head of the pool in the order of a greedy choice, each pick the one that adds most expected evidence.

    Every sentence j is taken to be a source of the evidence, with the share w_j = softmax(sharpness *
    standardised score). Another sentence i says what j says with the probability q_ij = max(cosine, 0) **
    closeness, and q_ii = 1. After picks S, w_j * prod over s in S of (1 - q_sj) of j's share is left; a pick
    gains all that is left of its own share and ``overlap_weight`` times what it takes of the others'. With a weight
    of 1 this is the greedy step for probabilistic coverage (El-Arini et al., "Turning down the noise in the
    blogosphere", KDD 2009); a lower one trusts the scores more than the similarities.

    ``similarities`` are cosines of embeddings. As many as the budget are chosen, at least 30 and at most all
    sentences. Ties go to the sentence that stands first.
    """
    n = len(scores)
    standard = (scores - scores.mean()) / (scores.std() + 1e-9)
    share = np.exp(selecting.sharpness * (standard - standard.max()))
    share /= share.sum()
    covers = np.maximum(similarities.astype(np.float64), 0) ** selecting.closeness
    np.fill_diagonal(covers, 1.0)
    counts = selecting.overlap_weight * covers
    np.fill_diagonal(counts, 1.0)
    left, unpicked = share.copy(), np.ones(n, dtype=bool)
    picks: list[int] = []
    for _ in range(min(max(ONE_BY_ONE, budget or 0), n)):
        gains = np.where(unpicked, np.round(counts @ left, 9), -1.0)
        best = int(gains.argmax())
        picks.append(best)
        left *= 1 - covers[best]
        unpicked[best] = False
    return tuple(picks)
