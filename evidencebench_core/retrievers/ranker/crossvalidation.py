"""How good is a ranker on papers that it has not seen: cross-validation, grouped by paper.

Everything that is fitted (projections, means, members) is fitted inside the fold, on the other folds alone.
No setting is tuned while training, so nothing is nested. The recipe itself (features, members and the numbers
of the selection) was chosen by cross-validation on the benchmark's train set: on that set the table is
slightly too good, on other data it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING

from evidencebench_core.data.model import Focus, Instance
from evidencebench_core.retrievers.base import Retrieval, query_of
from evidencebench_core.retrievers.ranker.examples import Example, unit_vectors
from evidencebench_core.retrievers.ranker.features import Features, features_of
from evidencebench_core.retrievers.ranker.model import RankerModel, Selecting, TrainedOn
from evidencebench_core.retrievers.ranker.retriever import ScoredPaper, picks_of, retrieval_of, scored_paper
from evidencebench_core.retrievers.ranker.training import Encoder, Training, fitted
from evidencebench_core.tasks import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HeldOut", "PaperVectors", "fold_models", "held_out", "held_out_picks", "trained_on_these"]

PaperVectors = tuple[Instance, "NDArray[np.float32]"]
"""An instance with the embeddings of its hypothesis and its sentences."""

_WORKERS = (
    2  # LightGBM and the linear algebra let other threads run; processes would have to be given the rows
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a ranker answered for an instance whose paper it had not seen."""

    instance_id: str
    retrievals: Mapping[str, Retrieval]


def trained_on_these(examples: Sequence[Example], dataset: str, sha256: str) -> TrainedOn:
    """Which instances and papers the examples are of."""
    return TrainedOn(
        dataset,
        sha256,
        tuple(sorted(one.instance_id for one in examples)),
        tuple(sorted({one.paper_id for one in examples})),
    )


def fold_models(
    examples: Sequence[Example],
    folds: Sequence[int],
    encoder: Encoder,
    training: Training,
    told: Callable[[], object],
) -> dict[int, RankerModel]:
    """For each fold the model that was fitted without it, two at a time.

    Parameters
    ----------
    examples : sequence of Example
    folds : sequence of int
        Of the same length: `folds_by_paper`.
    encoder : Encoder
    training : Training
    told : callable
        Called in this thread after each fit.
    """
    from threadpoolctl import threadpool_limits

    stop = Event()

    def fit(fold: int) -> tuple[int, RankerModel]:
        seen = [one for one, where in zip(examples, folds, strict=True) if where != fold]
        trained = trained_on_these(seen, "", "")
        return fold, fitted(seen, encoder, trained, training, stopped=stop.is_set)

    models: dict[int, RankerModel] = {}
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(_WORKERS) as pool:
        waiting = [pool.submit(fit, fold) for fold in sorted(set(folds))]
        try:
            for done in as_completed(waiting):
                fold, model = done.result()
                models[fold] = model
                told()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return models


def held_out(
    models: Mapping[int, RankerModel],
    fold_of: Mapping[str, int],
    papers: Iterable[PaperVectors],
    tasks: Sequence[Task],
) -> Iterator[HeldOut]:
    """Rank each paper by the model that has not seen it, for every task in which it has something to cover.

    Papers come one by one, and none is kept.
    """
    for instance, vectors in papers:
        started = perf_counter()
        model = models[fold_of[instance.id]]
        unit = unit_vectors(vectors)
        features = features_of(query_of(instance, "all", None), unit)
        scored: dict[Focus, ScoredPaper] = {}
        retrievals: dict[str, Retrieval] = {}
        for task in tasks:
            if instance.evidence.optimal_for(task.focus) is None:
                continue
            if task.focus not in scored:
                scored[task.focus] = scored_paper(model, task.focus, features, unit)
            query = query_of(instance, task.focus, task.budget_for(instance.evidence))
            found = retrieval_of(model, scored[task.focus], query, started)
            retrievals[task.name] = replace(found, seconds=perf_counter() - started)
            started = perf_counter()
        yield HeldOut(instance.id, retrievals)


def held_out_picks(
    model: RankerModel,
    instance: Instance,
    features: Features,
    unit: NDArray[np.float32],
    tasks: Sequence[Task],
    weights: Mapping[str, float] | None = None,
    selecting: Selecting | None = None,
) -> dict[str, tuple[int, ...]]:
    """The selections alone, by task name, with other weights of the members or another selection step."""
    if weights is not None:
        model = replace(
            model,
            focuses={
                focus: replace(one, weights={**one.weights, **weights})
                for focus, one in model.focuses.items()
            },
        )
    found: dict[str, tuple[int, ...]] = {}
    scores: dict[Focus, NDArray[np.float64]] = {}
    for task in tasks:
        if instance.evidence.optimal_for(task.focus) is None:
            continue
        if task.focus not in scores:
            scores[task.focus] = scored_paper(model, task.focus, features, unit).scored.scores
        budget = task.budget_for(instance.evidence)
        picks = picks_of(scores[task.focus], features.similarities, budget, selecting or model.selecting)
        found[task.name] = tuple(pick.sentence for pick in picks[:budget])
    return found
