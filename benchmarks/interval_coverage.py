"""How often a 95% interval of few papers holds the mean of all: percentile bootstrap, Student's t, BCa.

python -m benchmarks.interval_coverage STORE RUN...

The papers of a run, each with its mean recall on a task, are a population; samples of them are drawn with
replacement. Coverage is over the samples whose papers differ; of the others no interval is printed.
"""

import sys
from typing import Final

import numpy as np
from scipy.stats import bootstrap, t

from evidencebench_core.analyses.comparison import systems
from evidencebench_core.data import open_store

TASKS: Final = ("er@10", "er@optimal", "result-er@optimal")
N_SAMPLES: Final = 1_500


def coverages(population: np.ndarray, n: int) -> list[float]:
    """Coverage of percentile, t and BCa over samples of n papers, and the share of samples without an interval."""
    rng = np.random.default_rng(n)
    samples = rng.choice(population, size=(N_SAMPLES, n))
    samples = samples[np.ptp(samples, axis=1) > 0]
    means = samples.mean(axis=1)
    reach = t.ppf(0.975, n - 1) * samples.std(axis=1, ddof=1) / np.sqrt(n)
    percentile, bca = (
        bootstrap((samples,), np.mean, axis=1, method=method, n_resamples=2_000, batch=50, rng=rng)
        for method in ("percentile", "BCa")
    )
    intervals = [percentile.confidence_interval, (means - reach, means + reach), bca.confidence_interval]
    truth = population.mean()
    shares = [float(np.mean((low <= truth) & (truth <= high))) for low, high in intervals]
    return [*shares, 1 - len(samples) / N_SAMPLES]


store, populations = open_store(sys.argv[1]), []
for run in sys.argv[2:]:
    for task in TASKS:
        scored = systems(store, [run], task)
        populations.append(scored.recalls.groupby(scored.papers).mean().to_numpy()[:, 0])
print(f"Mean of {len(populations)} populations (lowest; of no interval the highest), in percent")
print("| papers | percentile | t | BCa | no interval |\n| --- | --- | --- | --- | --- |")
for n_papers in (4, 5, 6, 10, 20, 30, 39):
    table = 100 * np.array([coverages(population, n_papers) for population in populations])
    extremes = [*table[:, :3].min(axis=0), table[:, 3].max()]
    cells = [
        f"{mean:.1f} ({extreme:.1f})" for mean, extreme in zip(table.mean(axis=0), extremes, strict=True)
    ]
    print(f"| {n_papers} | {' | '.join(cells)} |")
