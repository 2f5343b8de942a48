"""Linear scores whose softmax over a paper falls on each study aspect, fitted by Newton's method.

Row j of a paper has the probability p_j, in proportion to c_j exp(x_j w), where c_j is how many sentences it stands
for. A paper's loss is the mean over its aspects of -log P_a, with P_a the sum of p over the rows that cover aspect a:
one of them is enough, whichever it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MOST_STEPS: Final = 100
_SETTLED: Final = (
    1e-9  # a step by so little, as a share of the largest weight, is the last: the next is its square
)

_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Aspects:
    """The aspects of some papers: ``rows`` are those that cover the first, then the second, and so on."""

    papers: NDArray[np.int64]  # where each paper's rows start
    counts: _Array  # how many sentences each row stands for
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]  # where each aspect's start in ``rows``
    shares: _Array  # by aspect: 1 / the number of aspects of its paper


def aspects_of(covering: Sequence[Sequence[NDArray[np.int64]]], counts: Sequence[_Array]) -> Aspects:
    """By paper, the rows that cover each aspect, at least one, and how many sentences its rows stand for."""
    sizes = [len(one) for one in counts]
    papers = np.cumsum([0, *sizes[:-1]])
    rows = [start + places for start, some in zip(papers, covering, strict=True) for places in some]
    return Aspects(
        papers,
        np.concatenate(counts),
        np.concatenate(rows),
        np.cumsum([0, *map(len, rows[:-1])]),
        np.concatenate([np.full(len(some), 1 / len(some)) for some in covering]),
    )


def listwise_weights(columns: _Array, aspects: Aspects, penalty: float) -> _Array:
    """The weights with the least loss, summed over papers, plus ``penalty`` / 2 times their squares.

    To the last few digits of float64, so that rounding can take away what differs between machines.
    """
    weights = np.zeros(columns.shape[1])
    loss, p = _loss(columns, weights, aspects, penalty)
    for _ in range(_MOST_STEPS):
        step = _newton_step(columns, weights, p, aspects, penalty)
        for _ in range(_MOST_STEPS):
            ahead, p = _loss(columns, weights - step, aspects, penalty)
            if ahead <= loss + 1e-12 * abs(loss):
                break
            step /= 2
        weights, loss = weights - step, ahead
        if np.abs(step).max(initial=0.0) <= _SETTLED * np.abs(weights).max(initial=0.0):
            break
    return weights


def _loss(columns: _Array, weights: _Array, aspects: Aspects, penalty: float) -> tuple[float, _Array]:
    """The loss, and the probability of each row within its paper."""
    scores = columns @ weights
    sizes = np.diff(aspects.papers, append=len(scores))
    p = aspects.counts * np.exp(scores - np.repeat(np.maximum.reduceat(scores, aspects.papers), sizes))
    p = np.maximum(p / np.repeat(np.add.reduceat(p, aspects.papers), sizes), 1e-300)
    covered = np.add.reduceat(p[aspects.rows], aspects.starts)
    return float(penalty / 2 * (weights @ weights) - aspects.shares @ np.log(covered)), p


def _newton_step(columns: _Array, weights: _Array, p: _Array, aspects: Aspects, penalty: float) -> _Array:
    """The step down from here; where the loss curves downwards, by the part of its curvature that never does."""
    covering = p[aspects.rows]
    sizes = np.diff(aspects.starts, append=len(covering))
    r = covering / np.repeat(np.add.reduceat(covering, aspects.starts), sizes)  # of an aspect's rows
    wanted = np.bincount(aspects.rows, np.repeat(aspects.shares, sizes) * r, len(p))
    gradient = (p - wanted) @ columns + penalty * weights
    of_paper = np.add.reduceat(columns * p[:, None], aspects.papers)
    curvature = (columns * p[:, None]).T @ columns - of_paper.T @ of_paper + penalty * np.eye(len(weights))
    of_aspect = np.add.reduceat(columns[aspects.rows] * r[:, None], aspects.starts)
    within = (columns * wanted[:, None]).T @ columns - (of_aspect * aspects.shares[:, None]).T @ of_aspect
    try:
        np.linalg.cholesky(curvature - within)
    except np.linalg.LinAlgError:
        within = np.zeros_like(curvature)
    return np.asarray(np.linalg.solve(curvature - within, gradient))
