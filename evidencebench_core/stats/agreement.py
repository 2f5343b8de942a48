"""How alike two rankings, or two selections, of the same things are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from evidencebench_core.errors import SettingError, shown


def overlap(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Share (0 to 1) of the longer selection that the other has too, in any order; ``None`` for two empty ones."""
    longer = max(len(a), len(b))
    return len(set(a) & set(b)) / longer if longer else None


def kendall_tau(a: Sequence[Hashable], b: Sequence[Hashable], depth: int | None = None) -> float | None:
    """Kendall's tau-b between two rankings (best first, each thing once), over the things in the head of either.

    Each thing's rank is its place in the whole ranking; things that a ranking lacks share the place
    behind its last one, as ties. With whole rankings there are no ties and tau-b is tau.

    Parameters
    ----------
    a, b : sequences
    depth : int, optional
        How long the heads are; the whole rankings where not given.

    Returns
    -------
    float or None
        -1 (reversed) to 1 (the same order); ``None`` where fewer than two things are compared, or one
        ranking has them all in one tie.

    Notes
    -----
    Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945): (C - D) / sqrt((n0 - n1)
    (n0 - n2)), with C and D the pairs in the same and in reversed order, n0 all pairs, n1 and n2 those
    tied in a and in b.
    """
    heads = dict.fromkeys([*a[:depth], *b[:depth]])
    place_a, place_b = ({thing: place for place, thing in enumerate(ranking)} for ranking in (a, b))
    ranks_a = np.array([place_a.get(thing, len(a)) for thing in heads])
    ranks_b = np.array([place_b.get(thing, len(b)) for thing in heads])
    signs_a = np.sign(ranks_a[:, None] - ranks_a[None, :])
    signs_b = np.sign(ranks_b[:, None] - ranks_b[None, :])
    untied = float(np.abs(signs_a).sum()) * float(np.abs(signs_b).sum())
    return float((signs_a * signs_b).sum() / untied**0.5) if untied else None


def rank_biased_overlap(
    a: Sequence[Hashable], b: Sequence[Hashable], depth: int | None = None, p: float = 0.9
) -> float | None:
    """Extrapolated rank-biased overlap of two heads (best first, each thing once), the top counting most.

    Parameters
    ----------
    a, b : sequences
        They need not be equally long.
    depth : int, optional
        How long the heads are; the whole rankings where not given.
    p : float
        How patient the reader is, between 0 and 1, both excluded (else a `SettingError`): with 0.9 the
        first ten ranks carry 86% of the weight.

    Returns
    -------
    float or None
        0 (disjoint) to 1 (the same); ``None`` if either is empty.

    Notes
    -----
    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28 (2010),
    equation 32.
    """
    if not 0.0 < p < 1.0:
        raise SettingError("rank-biased overlap, p", f"is {shown(p)}", "Give a number between 0 and 1.")
    short, long = sorted((list(a[:depth]), list(b[:depth])), key=len)
    s, n = len(short), len(long)
    if not s:
        return None
    common, total, common_at_s = 0, 0.0, 0
    seen_short, seen_long = set[Hashable](), set[Hashable]()
    for depth_now in range(1, n + 1):
        thing = long[depth_now - 1]
        seen_long.add(thing)
        common += thing in seen_short
        if depth_now <= s:
            other = short[depth_now - 1]
            seen_short.add(other)
            common += other in seen_long
        if depth_now == s:
            common_at_s = common
        total += common / depth_now * p**depth_now
        if depth_now > s:
            total += common_at_s * (depth_now - s) / (s * depth_now) * p**depth_now
    beyond = ((common - common_at_s) / n + common_at_s / s) * p**n
    return (1.0 - p) / p * total + beyond
