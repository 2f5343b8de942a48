"""Expected Aspect Recall where K sentences are drawn at random, in closed form.

Drawing K of n sentences misses an aspect that h of them cover with probability ``C(n - h, K) / C(n, K)``. The
binomials are exact integers, and the one division at the end is correctly rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import comb

from evidencebench_core.metrics.coverage import aspect_recall, check_budget, times_covered


def expected_recall(
    selection: Iterable[int], covers: Sequence[frozenset[int]], budget: int | None
) -> float | None:
    """Aspect Recall of a selection under a budget (K; ``None`` for no limit).

    With no more than ``budget`` different sentences it is the plain recall. With more, it is the mean recall over
    all subsets of ``budget`` sentences of the selection, the limit of what the authors' code simulates by 100,000
    shuffles. ``None`` without aspects; `SettingError` for a negative budget.
    """
    picked = frozenset(selection)
    check_budget(budget)
    if budget is None or len(picked) <= budget:
        return aspect_recall(picked, covers)
    return _expected_share(len(picked), times_covered(picked, covers), budget) if covers else None


def random_expectation(
    n_sentences: int, covers: Sequence[frozenset[int]], budget: int | None
) -> float | None:
    """Expected Aspect Recall (0 to 1) of ``budget`` sentences drawn at random from the whole paper.

    ``None`` without aspects, and where the budget is ``None``: without a limit there is no number of sentences
    that a random baseline would draw. `SettingError` for a negative budget.
    """
    check_budget(budget)
    if budget is None or not covers:
        return None
    if n_sentences <= budget:
        return sum(map(bool, covers)) / len(covers)
    return _expected_share(n_sentences, [len(cover) for cover in covers], budget)


def _expected_share(n: int, hits: Collection[int], budget: int) -> float:
    """Expected share of the aspects met by ``budget`` of ``n`` sentences, ``hits[j]`` of which cover aspect j."""
    draws = comb(n, budget)
    misses = sum(comb(n - n_hits, budget) for n_hits in hits)
    return (len(hits) * draws - misses) / (len(hits) * draws)
