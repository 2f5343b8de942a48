"""How good the ranker is, and how lucky a seed: cross-validation by paper, with other datasets beside and instead.

    python -m benchmarks.ranker_cv STORE DATASET [--seeds 20] [--other DATASET ...]

Per task the Aspect Recall in percent, mean and standard deviation between seeds (of folds and networks), of rankers
that learnt from the other folds; with ``--other`` also of rankers that learnt from the other datasets as well, and from
them alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evidencebench_core.data import Store, open_store
from evidencebench_core.retrievers import query_of
from evidencebench_core.retrievers.encoding import MINILM, Encoder
from evidencebench_core.retrievers.ranker.retriever import ranking_of
from evidencebench_core.retrievers.ranker.training import (
    Example,
    examples_of,
    fit_ranker,
    folds_by_paper,
    weighted,
)
from evidencebench_core.runs import DEFAULT_TASKS
from evidencebench_core.tasks import score, task_named

Recalls = dict[str, dict[str, float]]  # by task and instance, 0 to 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("dataset")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--other", metavar="DATASET", action="append", default=[])
    options = parser.parse_args()
    store, seeds = open_store(options.store), range(options.seeds)
    examples = read_examples(store, options.dataset)
    others = [example for name in options.other for example in read_examples(store, name)]
    results = [cross_validated(examples, [], seed) for seed in seeds]
    print_table(f"{options.dataset}, five folds by paper", results)
    if others:
        print_table("the same, and all others", [cross_validated(examples, others, seed) for seed in seeds])
        print_table("the others alone", [recalls_of(others, examples, seed) for seed in seeds])
    return 0


def read_examples(store: Store, dataset: str) -> list[Example]:
    ids = [row.id for row in store.rows(dataset, store.ids(dataset)) if row.n_aspects]
    encoder = Encoder(MINILM)
    return [
        example for instance in store.get_many(dataset, ids) for example in examples_of(instance, encoder)
    ]


def recalls_of(learnt: Sequence[Example], asked: Sequence[Example], seed: int) -> Recalls:
    """Recalls of a ranker that learnt from the one, on the instances of the other as they are worded there."""
    ranker = fit_ranker(learnt, MINILM, seed)
    first: Mapping[str, Example] = {example.instance.id: example for example in reversed(asked)}
    gold = {name: example.instance.evidence for name, example in first.items()}
    recalls: Recalls = {}
    for task in map(task_named, DEFAULT_TASKS):
        selections = {}
        for name, example in first.items():
            if gold[name].optimal_for(task.focus) is not None:
                query = query_of(example.instance, task)
                ranking = ranking_of(ranker, query, example.features, example.vectors)
                selections[name] = ranking.cut(query.budget).selection
        recalls[task.name] = dict(score(task, gold.items(), selections).per_instance)
    return recalls


def cross_validated(examples: Sequence[Example], others: Sequence[Example], seed: int) -> Recalls:
    fold_of = folds_by_paper([example.instance.paper_id for example in examples], 5, seed)
    joined: Recalls = {task: {} for task in DEFAULT_TASKS}
    for fold in range(5):
        pairs = list(zip(examples, fold_of, strict=True))
        learnt = [example for example, other in pairs if other != fold]
        asked = [example for example, other in pairs if other == fold]
        for task, of_task in recalls_of([*learnt, *weighted(learnt, others)], asked, seed).items():
            joined[task] |= of_task
    return joined


def print_table(title: str, results: Sequence[Recalls]) -> None:
    print(f"\n{title}, {len(results)} seeds: mean, sd between seeds")
    for task in DEFAULT_TASKS:
        means = [100 * float(np.mean(list(recalls[task].values()))) for recalls in results]
        print(f"{task:20} {np.mean(means):5.1f} {np.std(means):4.1f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
