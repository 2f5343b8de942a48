"""What each member of the ranker adds, and how lucky a seed is: cross-validation by paper, and transfer to other data.

    python -m benchmarks.ranker_cv STORE DATASET [--seeds 20] [--other DATASET] [--against structure]

Per task the Aspect Recall in percent, mean and standard deviation between seeds (of folds and networks), with its
difference to the whole ranker, or the whole ranker's to a retriever: papers drawn whole, recalls averaged over seeds.
"Chosen on the other folds" takes for each fold the member set that is best on average on the others. With ``--other``
also rankers trained on all of one dataset and asked of the other, in both directions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from evidencebench_core.data import Store, open_store
from evidencebench_core.data.model import Instance
from evidencebench_core.retrievers.encoding import MINILM, Encoder
from evidencebench_core.retrievers.ranker.model import Ranker
from evidencebench_core.retrievers.ranker.retriever import ranking_of
from evidencebench_core.retrievers.ranker.training import Example, example_of, fit_ranker, folds_by_paper
from evidencebench_core.runs import DEFAULT_TASKS, run, score_run
from evidencebench_core.stats import paired
from evidencebench_core.tasks import score, task_named


class Networks(Ranker):
    """Without trees."""

    trees_share: ClassVar[float] = 0.0


class Always(Ranker):
    """With trees for few picks of result aspects too."""

    trees_least_budget: ClassVar[int] = 0


class Half(Ranker):
    """Trees count as much as networks."""

    trees_share: ClassVar[float] = 0.5


WHOLE = "networks and trees"
CHOSEN = "chosen on the other folds"
MEMBERS: dict[str, type[Ranker]] = {
    WHOLE: Ranker,
    "networks alone": Networks,
    "trees for few result picks too": Always,
    "half trees": Half,
}

Pairs = Sequence[tuple[Instance, Example]]
Recalls = dict[str, dict[str, float]]  # by task and instance, 0 to 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("dataset")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--other", metavar="DATASET")
    parser.add_argument("--against", metavar="RETRIEVER")
    options = parser.parse_args()
    store = open_store(options.store)
    pairs = read_pairs(store, options.dataset)
    seeds = range(options.seeds)
    results = [cross_validated(pairs, seed) for seed in seeds]
    print_table(f"{options.dataset}, five folds by paper", results, pairs)
    if options.against:
        print_against(store, options.dataset, options.against, results, pairs)
    if options.other:
        others = read_pairs(store, options.other)
        for name, (learnt, asked) in {
            f"{options.dataset} to {options.other}": (pairs, others),
            f"{options.other} to {options.dataset}": (others, pairs),
        }.items():
            print_table(name, [answers_of(learnt, asked, seed) for seed in seeds], asked)
    return 0


def read_pairs(store: Store, dataset: str) -> Pairs:
    """The instances with gold, each with its embeddings."""
    ids = [row.id for row in store.rows(dataset, store.ids(dataset)) if row.n_aspects]
    encoder = Encoder(MINILM)
    return [
        (instance, example_of(instance, encoder.vectors(instance.hypothesis, instance.sentences)))
        for instance in store.get_many(dataset, ids)
    ]


def answers_of(learnt: Pairs, asked: Pairs, seed: int) -> dict[str, Recalls]:
    """By member set the recalls of a ranker that was fitted to the one and asked of the other."""
    fitted = fit_ranker([example for _, example in learnt], MINILM, seed)
    parts = {field.name: getattr(fitted, field.name) for field in fields(Ranker)}
    return {name: recalls_of(kind(**parts), asked) for name, kind in MEMBERS.items()}


def recalls_of(ranker: Ranker, asked: Pairs) -> Recalls:
    gold = {instance.id: instance.evidence for instance, _ in asked}
    recalls: Recalls = {}
    for name in DEFAULT_TASKS:
        task = task_named(name)
        selections: dict[str, tuple[int, ...]] = {}
        for instance, example in asked:
            if instance.evidence.optimal_for(task.focus) is None:
                continue
            budget = task.budget_for(instance.evidence)
            query = replace(example.query, focus=task.focus, budget=budget)
            ranking = ranking_of(ranker, query, example.features, example.vectors)
            selections[instance.id] = ranking.cut(budget).selection
        recalls[name] = dict(score(task, gold.items(), selections).per_instance)
    return recalls


def cross_validated(pairs: Pairs, seed: int) -> dict[str, Recalls]:
    fold_of = folds_by_paper([example.paper_id for _, example in pairs], 5, seed)
    by_fold = []
    for fold in range(5):
        learnt = [pair for pair, place in zip(pairs, fold_of, strict=True) if place != fold]
        asked = [pair for pair, place in zip(pairs, fold_of, strict=True) if place == fold]
        by_fold.append(answers_of(learnt, asked, seed))
    chosen = []
    for fold, answers in enumerate(by_fold):
        others = [by_fold[other] for other in range(5) if other != fold]
        best = max(MEMBERS, key=lambda name: np.mean([mean(recalls[name]) for recalls in others]))
        chosen.append(answers[best])
    joined = {name: merged([answers[name] for answers in by_fold]) for name in MEMBERS}
    return {**joined, CHOSEN: merged(chosen)}


def mean(recalls: Recalls) -> float:
    return float(np.mean([np.mean(list(of_task.values())) for of_task in recalls.values()]))


def merged(parts: Sequence[Recalls]) -> Recalls:
    return {task: {name: value for part in parts for name, value in part[task].items()} for task in parts[0]}


def print_table(title: str, results: Sequence[dict[str, Recalls]], pairs: Pairs) -> None:
    """One row a member set; ``results`` has one entry a seed."""
    print(f"\n{title}, {len(results)} seeds: mean, sd between seeds, difference to {WHOLE}")
    for name in results[0]:
        for task in DEFAULT_TASKS:
            means = [100 * float(np.mean(list(result[name][task].values()))) for result in results]
            row = f"{name:30} {task:20} {np.mean(means):5.1f} {np.std(means):4.1f}"
            if name != WHOLE:
                ours, whole = over_seeds(results, name, task), over_seeds(results, WHOLE, task)
                row += f"  {difference(ours, whole, pairs)}"
            print(row, flush=True)


def print_against(
    store: Store, dataset: str, retriever: str, results: Sequence[dict[str, Recalls]], pairs: Pairs
) -> None:
    print(f"\n{WHOLE}, difference to {retriever}")
    for task in DEFAULT_TASKS:
        theirs = dict(score_run(store, run(store, dataset, retriever, tasks=[task]), task).per_instance)
        print(f"{task:20} {difference(over_seeds(results, WHOLE, task), theirs, pairs)}", flush=True)


def over_seeds(results: Sequence[dict[str, Recalls]], name: str, task: str) -> dict[str, float]:
    """The mean recall of each instance."""
    by_seed = [result[name][task] for result in results]
    return {key: float(np.mean([recalls[key] for recalls in by_seed])) for key in by_seed[0]}


def difference(ours: dict[str, float], theirs: dict[str, float], pairs: Pairs) -> str:
    papers = {instance.id: instance.paper_id for instance, _ in pairs}
    ids = sorted(ours.keys() & theirs.keys())
    pair = paired([ours[i] for i in ids], [theirs[i] for i in ids], [papers[i] for i in ids])
    return f"{pair.difference.text(unit='', sign=True)}, p {pair.p:.3f}"


if __name__ == "__main__":
    raise SystemExit(main())
