"""Expected Aspect Recall where K sentences are drawn at random, in closed form (spec rule 10).

Drawing K of n sentences misses an aspect that h of them cover with probability
``C(n - h, K) / C(n, K)``. The binomials are exact integers, and the one division at the end is
correctly rounded, so equal cases give equal floats whatever the size of the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.metrics.coverage import (
    Denominator,
    aspect_recall,
    check_budget,
    n_counted,
    times_covered,
)


def expected_recall(
    selection: Iterable[int],
    covers: Sequence[frozenset[int]],
    budget: int | None,
    denominator: Denominator = "all",
) -> float | None:
    """Aspect Recall of a selection under a budget (K; ``None`` for no limit).

    With no more than ``budget`` different sentences it is the plain recall. With more, it is the
    mean recall over all subsets of ``budget`` sentences of the selection: the limit of what the
    authors' code simulates by 100,000 shuffles,
    ``E = (1/m) * sum over aspects j of [1 - C(n - n_j, K) / C(n, K)]``, spec rule 10.
    ``None`` where there is nothing to cover; `SettingError` for a negative budget. The other arguments are
    those of `aspect_recall`.
    """
    picked = frozenset(selection)
    check_budget(budget)
    if budget is None or len(picked) <= budget:
        return aspect_recall(picked, covers, denominator)
    n_aspects = n_counted(covers, denominator)
    if not n_aspects:
        return None
    return _expected_share(len(picked), times_covered(picked, covers), budget, n_aspects)


def random_expectation(
    n_sentences: int,
    covers: Sequence[frozenset[int]],
    budget: int | None,
    denominator: Denominator = "all",
) -> float | None:
    """Expected Aspect Recall (0 to 1) of ``budget`` sentences drawn at random from the whole paper.

    Equal to the `expected_recall` of all ``n_sentences`` indices. ``None`` where there is nothing to cover,
    and where the budget is ``None``: without a limit there is no number of sentences that a random baseline
    would draw. `SettingError` for a negative budget.
    """
    check_budget(budget)
    n_aspects = n_counted(covers, denominator)
    if budget is None or not n_aspects:
        return None
    if n_sentences <= budget:
        return sum(map(bool, covers)) / n_aspects
    return _expected_share(n_sentences, [len(cover) for cover in covers], budget, n_aspects)


def _expected_share(n: int, hits: Collection[int], budget: int, n_aspects: int) -> float:
    """Expected share of ``n_aspects`` met by ``budget`` of ``n`` sentences, ``hits[j]`` of which cover j."""
    draws = comb(n, budget)
    misses = sum(comb(n - h, budget) for h in hits)
    return (len(hits) * draws - misses) / (n_aspects * draws)


def random_expectations(
    n_sentences: NDArray[np.int64],
    budgets: NDArray[np.int64],
    n_aspects: NDArray[np.int64],
    instance: NDArray[np.int64],
    n_covering: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The `random_expectation` of n instances, equal to the last digit: shape (n,).

    ``n_sentences``, ``budgets`` (0 or more) and ``n_aspects`` in the denominator (1 or more) are of shape (n,).
    ``instance`` and ``n_covering`` have an entry for every aspect, found by a sentence or not: the row of its
    instance, ascending and each at least once, and how many sentences cover it.
    """
    drawn = np.minimum(budgets, n_sentences)
    sizes = np.bincount(instance, minlength=len(drawn))
    draws = _combs(n_sentences, drawn)
    misses = np.add.reduceat(
        _combs(n_sentences[instance] - n_covering, drawn[instance]), np.cumsum(sizes) - sizes
    )
    shares: NDArray[np.float64] = (
        (sizes.astype(object) * draws - misses) / (n_aspects.astype(object) * draws)
    ).astype(np.float64)
    return shares


def _combs(n: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.object_]:
    """Binomials as exact integers, each distinct one computed once."""
    base = int(k.max(initial=0)) + 1
    codes, places = np.unique(n * base + k, return_inverse=True)
    values = np.empty(codes.size, dtype=object)
    values[:] = [comb(code // base, code % base) for code in codes.tolist()]
    return values[places]
