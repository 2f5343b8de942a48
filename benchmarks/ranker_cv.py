"""How lucky is a seed of the ranker: cross-validation by paper over many seeds of folds and networks.

    python -m benchmarks.ranker_cv STORE DATASET [--seeds 20] [--against structure]

Prints mean and standard deviation between seeds of the Aspect Recall of each task in percent; with ``--against`` also
the difference of the mean over seeds to that retriever, papers drawn whole.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from evidencebench_core.data import open_store
from evidencebench_core.runs import DEFAULT_TASKS, drive, execute, plan, score_run, train_ranker
from evidencebench_core.stats import paired


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("dataset")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--against", metavar="RETRIEVER")
    options = parser.parse_args()
    store = open_store(options.store)
    recalls: dict[str, list[dict[str, float]]] = {task: [] for task in DEFAULT_TASKS}
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            steps = train_ranker(store, options.dataset, seed=seed, out=Path(folder) / "ranker")
            training = drive(steps, lambda _: None)
        for task in DEFAULT_TASKS:
            recalls[task].append(dict(training.scores[task].per_instance))
    papers = {row.id: row.paper_id for row in store.rows(options.dataset, store.ids(options.dataset))}
    for task, by_seed in recalls.items():
        means = [100 * float(np.mean(list(recall.values()))) for recall in by_seed]
        found = {"task": task, "mean": np.mean(means).round(2), "sd between seeds": np.std(means).round(2)}
        if options.against:
            *_, last = execute(plan(store, options.dataset, options.against, tasks=[task]))
            theirs = score_run(store, last.run_id, task).per_instance
            ids = sorted(theirs.keys() & by_seed[0].keys())
            ours = [float(np.mean([recall[name] for recall in by_seed])) for name in ids]
            pair = paired(ours, [theirs[name] for name in ids], [papers[name] for name in ids])
            found |= {
                f"difference to {options.against}": pair.difference.text(unit="", sign=True),
                "p": pair.p,
            }
        print(json.dumps(found, default=float), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
