"""Differences between systems, pair by pair, over the questions that both have (spec rule 74)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from evidencebench_core.answers.systems import SystemScores
from evidencebench_core.stats import compare_paired, holm


def system_differences(
    scores: SystemScores, metric: str, rng: np.random.Generator, n_resamples: int = 10_000
) -> pd.DataFrame:
    """Every pair of systems: ``a, b, mean_a, mean_b, difference, low, high, p, p_holm, n, wins, ties, losses``.

    Paired by question; a question without a value of either is left out of that pair alone. ``p_holm`` is corrected
    for all pairs. A pair without two questions in common has no interval and no p-value (NaN).
    """
    values = scores.of(metric)
    there = [place for place in range(len(scores.systems)) if not np.isnan(values[place]).all()]
    rows = []
    for a, b in combinations(there, 2):
        both = ~(np.isnan(values[a]) | np.isnan(values[b]))
        pair = compare_paired(values[a][both], values[b][both], rng, n_resamples)
        low, high = pair.ci95 or (None, None)
        rows.append({
            "a": scores.systems[a], "b": scores.systems[b], "mean_a": pair.mean_a, "mean_b": pair.mean_b,
            "difference": pair.mean_difference, "low": low, "high": high, "p": pair.p_value,
            "n": pair.n, "wins": pair.wins, "ties": pair.ties, "losses": pair.losses,
        })  # fmt: skip
    columns = ["a", "b", "mean_a", "mean_b", "difference", "low", "high", "p", "n", "wins", "ties", "losses"]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = ["mean_a", "mean_b", "difference", "low", "high", "p"]
    frame = frame.astype(dict.fromkeys(numbers, float))
    p_values = [None if np.isnan(p) else p for p in frame["p"].tolist()]
    return frame.assign(p_holm=pd.Series(holm(p_values), index=frame.index, dtype=float))
