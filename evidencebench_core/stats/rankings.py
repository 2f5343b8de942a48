"""How alike two rankings, or two selections, of the same things are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from evidencebench_core.errors import SettingError, shown


def overlap(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Share of the longer selection that the other has too, in any order; ``None`` for two empty ones."""
    longer = max(len(a), len(b))
    return len(set(a) & set(b)) / longer if longer else None


def kendall_tau(a: Sequence[Hashable], b: Sequence[Hashable], depth: int | None = None) -> float | None:
    """Kendall's tau-b between two rankings (best first, each thing once), over the things in the head of either.

    Each thing's rank is its place in the whole ranking; things that a ranking lacks share the place behind its
    last one, as ties. ``None`` where fewer than two things are compared, or one ranking has them all in one tie.
    """
    from scipy.stats import kendalltau

    heads = dict.fromkeys([*a[:depth], *b[:depth]])
    place_a = {thing: place for place, thing in enumerate(a)}
    place_b = {thing: place for place, thing in enumerate(b)}
    ranks_a = [place_a.get(thing, len(a)) for thing in heads]
    ranks_b = [place_b.get(thing, len(b)) for thing in heads]
    if len(set(ranks_a)) < 2 or len(set(ranks_b)) < 2:
        return None
    return float(kendalltau(ranks_a, ranks_b).statistic)


def rank_biased_overlap(
    a: Sequence[Hashable], b: Sequence[Hashable], depth: int | None = None, p: float = 0.9
) -> float | None:
    """Extrapolated rank-biased overlap of two heads (best first, each thing once), the top counting most.

    They need not be equally long; ``None`` if either is empty. ``p`` is between 0 and 1, both excluded: with 0.9
    the first ten ranks carry 86% of the weight. Webber, Moffat and Zobel, "A similarity measure for indefinite
    rankings", ACM TOIS 28 (2010), equation 32.
    """
    if not 0.0 < p < 1.0:
        raise SettingError("rank-biased overlap, p", f"is {shown(p)}", "Give a number between 0 and 1.")
    short, long = sorted((list(a[:depth]), list(b[:depth])), key=len)
    if not short:
        return None
    s, n = len(short), len(long)
    common = np.array([len(set(short[:depth]) & set(long[:depth])) for depth in range(1, n + 1)])
    depths = np.arange(1, n + 1)
    weights = p**depths
    at_s, at_n = int(common[s - 1]), int(common[-1])
    total = (common / depths * weights).sum()
    total += (at_s * (depths[s:] - s) / (s * depths[s:]) * weights[s:]).sum()
    beyond = ((at_n - at_s) / n + at_s / s) * p**n
    return float((1.0 - p) / p * total + beyond)
