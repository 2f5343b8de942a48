"""How quick the paired bootstrap of many runs is: 20 runs on 20,000 instances, 10,000 resamples.

``python benchmarks/bootstrap.py [--resamples 10000]`` prints one JSON document: seconds and peak memory (of
the whole process, in MB) for all 190 pairs with intervals and p-values; and, on a smaller size in the same
process, the same intervals by the obvious loop that draws instances anew for every pair, with the ratio of
the two times. Exits 1 if the first takes 5 s or more, or the process 1,000 MB or more.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evidencebench_core.stats import compare_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMIT_SECONDS, LIMIT_MB = 5.0, 1_000.0


def recalls(n_runs: int, n_instances: int) -> NDArray[np.float64]:
    """Invented recalls: shares of 3 to 12 aspects, runs that differ a little."""
    rng = np.random.default_rng(1)
    n_aspects = rng.integers(3, 13, size=n_instances)
    chances = np.clip(rng.beta(1, 2, size=n_instances) + 0.01 * np.arange(n_runs)[:, None], 0, 1)
    return np.asarray(rng.binomial(n_aspects, chances) / n_aspects)


def looped(values: NDArray[np.float64], n_resamples: int) -> dict[tuple[int, int], tuple[float, float]]:
    """The obvious way: for every pair, for every resample, draw instances and take the mean."""
    rng = np.random.default_rng(0)
    n = values.shape[1]
    intervals = {}
    for a, b in combinations(range(len(values)), 2):
        differences = values[a] - values[b]
        means = [differences[rng.integers(0, n, size=n)].mean() for _ in range(n_resamples)]
        low, high = np.quantile(means, [0.025, 0.975])
        intervals[a, b] = (float(low), float(high))
    return intervals


def seconds(work: object) -> float:
    """How long a callable takes."""
    start = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--resamples", type=int, default=10_000)
    n_resamples = parser.parse_args().resamples
    large = recalls(20, 20_000)
    took = seconds(lambda: compare_matrix(large, np.random.default_rng(0), n_resamples))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    small = recalls(8, 2_000)
    ours = seconds(lambda: compare_matrix(small, np.random.default_rng(0), 1_000))
    theirs = seconds(lambda: looped(small, 1_000))
    result = {
        "runs": 20,
        "instances": 20_000,
        "resamples": n_resamples,
        "seconds": round(took, 2),
        "peak_mb": round(peak),
        "small": {
            "runs": 8,
            "instances": 2_000,
            "resamples": 1_000,
            "seconds": round(ours, 3),
            "loop_seconds": round(theirs, 3),
            "loop_ratio": round(theirs / ours, 1),
        },
    }
    print(json.dumps(result, indent=2))
    return 0 if took < LIMIT_SECONDS and peak < LIMIT_MB else 1


if __name__ == "__main__":
    raise SystemExit(main())
