"""Exact intervals of a share."""

from __future__ import annotations


def exact_interval(n_yes: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """The interval of Clopper and Pearson (Biometrika 26, 1934) for ``n_yes`` of ``n``; ``None`` of none."""
    from scipy.special import betaincinv

    if not n:
        return None
    tail = (1 - level) / 2
    low = float(betaincinv(n_yes, n - n_yes + 1, tail)) if n_yes else 0.0
    high = float(betaincinv(n_yes + 1, n - n_yes, 1 - tail)) if n_yes < n else 1.0
    return low, high
