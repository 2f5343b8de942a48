"""How good is a ranker on papers that it has not seen: cross-validation, grouped by paper.

Everything that is fitted is fitted inside the fold, on the other folds alone. No setting is tuned while training,
so nothing is nested. The recipe itself (features, members and the numbers of the selection) was chosen by
cross-validation on the benchmark's train set: on that set the table is slightly too good, on other data it is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.retrievers import Query, Retrieval, Retriever, make_retriever, query_of
from evidencebench_core.runs.plan import DEFAULT_TASKS
from evidencebench_core.runs.step import Step
from evidencebench_core.tasks import Score, Task, score, task_named

if TYPE_CHECKING:
    from evidencebench_core.retrievers.ranker.examples import Example
    from evidencebench_core.retrievers.ranker.features import Features
    from evidencebench_core.retrievers.ranker.model import RankerModel, ScoredPaper
    from evidencebench_core.retrievers.ranker.training import Training

RANKER: Final = "evidence-ranker"
_BASELINES: Final = ("structure", "abstract-tail", "hybrid", "bm25", "dense")
_WORKERS: Final = 2  # LightGBM and the linear algebra release the interpreter's lock
_PATIENCE: Final = 0.2  # seconds after which the caller has its say again
_TASKS: Final = tuple(map(task_named, DEFAULT_TASKS))

Scores = dict[str, dict[str, Score]]
"""By retriever, or by what is left out, and task name."""

_Picks = dict[str, dict[str, tuple[int, ...]]]  # for one instance, by retriever and task name


@dataclass(frozen=True, slots=True)
class Learnt:
    """The examples of a dataset, their folds (none without cross-validation), and whose embeddings they hold."""

    store: Store
    dataset: str
    examples: Sequence[Example]
    encoder: str
    fold_of: Mapping[str, int]

    @property
    def paper_of(self) -> dict[str, str]:
        return {one.instance_id: one.paper_id for one in self.examples}


def embedded_papers(
    store: Store, dataset: str, ids: Iterable[str], encoder: str
) -> Iterator[tuple[Instance, NDArray[np.float32]]]:
    """Instances one by one, with `embeddings` of their hypothesis and sentences."""
    from evidencebench_core.retrievers.encoding import embeddings

    for instance in store.get_many(dataset, ids):
        yield instance, embeddings(encoder, (instance.hypothesis, *instance.sentences))[0]


def fit(
    learnt: Learnt, training: Training, everything: bool = False
) -> Generator[Step, None, list[RankerModel]]:
    """The model of each fold, fitted without it; and at the end, with ``everything``, one fitted to all.

    Two are fitted at a time; closing it gives up what is being fitted.
    """
    from threadpoolctl import threadpool_limits

    from evidencebench_core.retrievers.ranker.training import fit_ranker

    fold_of, n_folds = learnt.fold_of, len(set(learnt.fold_of.values()))
    samples = [
        [one for one in learnt.examples if fold_of[one.instance_id] != fold] for fold in range(n_folds)
    ]
    text = f"Cross-validating by paper in {n_folds} folds" if n_folds else ""
    if everything:
        samples.append(list(learnt.examples))
        text = f"{text}, and training" if text else "Training"
        text += f" on {len(learnt.examples):,} instances"
    stop = Event()
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(_WORKERS) as pool:
        futures = [pool.submit(fit_ranker, one, learnt.encoder, training, stop.is_set) for one in samples]
        waiting = set(futures)
        try:
            yield Step(text, 0, len(samples), "models")
            while waiting:
                done, waiting = wait(waiting, _PATIENCE, FIRST_COMPLETED)
                for future in done:
                    future.result()
                yield Step(text, len(futures) - len(waiting), len(samples), "models")
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def held_out(
    learnt: Learnt, models: Sequence[RankerModel], baselines: bool
) -> Generator[Step, None, tuple[dict[str, dict[str, Retrieval]], Scores]]:
    """The ranker's answers by instance and task, each by the model that has not seen the paper; and all scores."""
    from evidencebench_core.retrievers.ranker.retriever import retrieval_of

    others = _baselines(learnt.encoder) if baselines else {}
    answers: dict[str, dict[str, Retrieval]] = {}

    def picked(instance: Instance, vectors: NDArray[np.float32]) -> _Picks:
        model, began = models[learnt.fold_of[instance.id]], time.perf_counter()
        by_task, picks = answers.setdefault(instance.id, {}), _Picks((name, {}) for name in (RANKER, *others))
        for task, query, paper in scored_tasks(model, instance, vectors):
            answer = retrieval_of(model, paper, query)
            by_task[task.name] = replace(answer, seconds=time.perf_counter() - began)
            picks[RANKER][task.name] = answer.selection
            for name, other in others.items():
                picks[name][task.name] = other.retrieve(query).selection
            began = time.perf_counter()
        return picks

    text = "Ranking what each model has not seen" + (", and asking the others" if others else "")
    scores = yield from _scores(learnt, text, picked)
    return answers, scores


def scored_tasks(
    model: RankerModel, instance: Instance, vectors: NDArray[np.float32], features: Features | None = None
) -> Iterator[tuple[Task, Query, ScoredPaper]]:
    """Each task that has aspects to cover, its query, and the paper, scored for it."""
    for task in _TASKS:
        if instance.evidence.optimal_for(task.focus) is None:
            continue
        query = query_of(instance, task.focus, task.budget_for(instance.evidence))
        paper = model.scored(query, vectors, features)
        features = paper.features
        yield task, query, paper


def _scores(
    learnt: Learnt, text: str, picked: Callable[[Instance, NDArray[np.float32]], _Picks]
) -> Generator[Step, None, Scores]:
    """The scores of what is picked from each paper of the folds."""
    picks: dict[str, _Picks] = {}  # by instance id
    yield Step(text, 0, len(learnt.fold_of), "instances")
    for instance, vectors in embedded_papers(learnt.store, learnt.dataset, learnt.fold_of, learnt.encoder):
        picks[instance.id] = picked(instance, vectors)
        yield Step(text, len(picks), len(learnt.fold_of), "instances")
    gold = dict(learnt.store.evidence_sets(learnt.dataset, learnt.fold_of)).items()

    def scored(name: str, task: Task) -> Score:
        return score(
            task, gold, {one: of[name][task.name] for one, of in picks.items() if task.name in of[name]}
        )

    names = next(iter(picks.values()))
    return {name: {task.name: scored(name, task) for task in _TASKS} for name in names}


def _baselines(encoder: str) -> dict[str, Retriever]:
    """The other retrievers, those with embeddings on the ones that the ranker reads."""
    settings: dict[str, dict[str, object]] = {
        "structure": {"encoder": encoder},
        "dense": {"model": encoder},
        "hybrid": {"dense.model": encoder},
    }
    return {name: make_retriever(name, settings.get(name)) for name in _BASELINES}
