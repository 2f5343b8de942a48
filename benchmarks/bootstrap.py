"""The paired bootstrap of many runs: 20 runs on 20,000 instances, 10,000 resamples, all 190 pairs.

    python -m benchmarks.bootstrap

Seconds (the target is 5) and peak memory (1,000 MB); and, on a smaller size, the same intervals by the obvious loop
that draws instances for every pair, with the ratio of the two times.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import peak_mb, report, seconds
from evidencebench_core.stats import compare_matrix


def recalls(n_runs: int, n_instances: int) -> NDArray[np.float64]:
    """Invented recalls: shares of 3 to 12 aspects, runs that differ a little."""
    rng = np.random.default_rng(1)
    n_aspects = rng.integers(3, 13, size=n_instances)
    chances = np.clip(rng.beta(1, 2, size=n_instances) + 0.01 * np.arange(n_runs)[:, None], 0, 1)
    return np.asarray(rng.binomial(n_aspects, chances) / n_aspects)


def looped(values: NDArray[np.float64], n_resamples: int) -> None:
    """The obvious way: for every pair, for every resample, draw instances and take the mean."""
    rng, n = np.random.default_rng(0), values.shape[1]
    for a, b in combinations(range(len(values)), 2):
        differences = values[a] - values[b]
        means = [differences[rng.integers(0, n, size=n)].mean() for _ in range(n_resamples)]
        np.quantile(means, [0.025, 0.975])


def main() -> int:
    large, small = recalls(20, 20_000), recalls(8, 2_000)
    took = seconds(compare_matrix, large, np.random.default_rng(0), 10_000)
    peak = peak_mb()
    ours, theirs = (
        seconds(compare_matrix, small, np.random.default_rng(0), 1_000),
        seconds(looped, small, 1_000),
    )
    found = {"seconds": round(took, 2), "peak_mb": peak, "small_loop_ratio": round(theirs / ours, 1)}
    return report(
        found, [name for name, limit in (("seconds", 5), ("peak_mb", 1_000)) if found[name] >= limit]
    )


if __name__ == "__main__":
    raise SystemExit(main())
