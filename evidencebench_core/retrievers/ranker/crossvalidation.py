"""How good is a ranker on papers that it has not seen: cross-validation, grouped by paper, and ablation.

Everything that is fitted (projections, means, members) is fitted inside the fold, on the other folds alone.
No setting is tuned while training, so nothing is nested. The recipe itself (features, members and the numbers
of the selection) was chosen by cross-validation on the benchmark's train set: on that set the table is
slightly too good, on other data it is not.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Event
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus, Instance
from evidencebench_core.retrievers.base import Query, Retrieval, query_of
from evidencebench_core.retrievers.ranker.examples import Example
from evidencebench_core.retrievers.ranker.features import FEATURES, GROUPS, Features, features_of
from evidencebench_core.retrievers.ranker.model import COLUMNS, RankerModel, Selecting, TrainedOn
from evidencebench_core.retrievers.ranker.retriever import ScoredPaper, picks_of, retrieval_of, scored_paper
from evidencebench_core.retrievers.ranker.training import Encoder, Training, fit_ranker
from evidencebench_core.tasks import Task

_WORKERS: Final = 2  # LightGBM and the linear algebra release the interpreter's lock
_PATIENCE: Final = 0.2  # seconds after which the caller has its say again
_TOPICS: Final = tuple(range(len(FEATURES), len(COLUMNS)))
_TREES: Final = ("evidence", "aspects", "share")


@dataclass(frozen=True, slots=True)
class Ablation:
    """The ranker without a part.

    Attributes
    ----------
    name : str
    without : tuple of int
        Columns that are left out: it is fitted without them.
    weights : mapping of str to float
        Members that count otherwise: the fit is the same.
    selecting : Selecting or None
        Another selection step.
    """

    name: str
    without: tuple[int, ...] = ()
    weights: Mapping[str, float] | None = None
    selecting: Selecting | None = None

    def of(self, model: RankerModel) -> RankerModel:
        """A model that was fitted without the columns, with the other changes."""
        focuses = {
            focus: replace(one, weights={**one.weights, **(self.weights or {})})
            for focus, one in model.focuses.items()
        }
        return replace(model, focuses=focuses, selecting=self.selecting or model.selecting)


ABLATIONS: Final[tuple[Ablation, ...]] = (
    *(
        Ablation(f"without {group}", tuple(COLUMNS.index(name) for name in names))
        for group, names in GROUPS.items()
    ),
    Ablation("without topics of the embedding", _TOPICS),
    Ablation("without topics and embedding", _TOPICS, {"embedding": 0.0}),
    *(Ablation(f"without member {name}", weights={name: 0.0}) for name in (*_TREES, "features", "embedding")),
    Ablation("without trees", weights=dict.fromkeys(_TREES, 0.0)),
    # nothing is taken from sentences that are not the same, so the scores alone decide
    Ablation("without selection step", selecting=Selecting(closeness=1e6, reach=0.0)),
    Ablation("selection for coverage alone", selecting=Selecting(reach=1.0)),
)
"""One part at a time: groups of features, members, the selection step."""


def refits() -> int:
    """How many of the ablations are fitted again."""
    return len({one.without for one in ABLATIONS if one.without})


def training_set(examples: Sequence[Example], dataset: str, sha256: str) -> TrainedOn:
    """The instances and papers of the examples."""
    ids = sorted(one.instance_id for one in examples)
    return TrainedOn(dataset, sha256, tuple(ids), tuple(sorted({one.paper_id for one in examples})))


def fit_rankers(
    samples: Sequence[Sequence[Example]], encoder: Encoder, training: Training
) -> Generator[int, None, list[RankerModel]]:
    """Fit a model to each of some samples, two at a time.

    Yields how many are fitted, a few times a second; closing it gives up what is being fitted.
    """
    from threadpoolctl import threadpool_limits

    stop = Event()
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(_WORKERS) as pool:
        futures = [
            pool.submit(
                fit_ranker, sample, encoder, training_set(sample, "", ""), training, stopped=stop.is_set
            )
            for sample in samples
        ]
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, _PATIENCE, FIRST_COMPLETED)
                for future in done:
                    future.result()
                yield len(futures) - len(waiting)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def held_out_retrievals(
    model: RankerModel, instance: Instance, vectors: NDArray[np.float32], tasks: Sequence[Task]
) -> dict[str, Retrieval]:
    """What a model that has not seen a paper retrieves from it, by task name; no entry without aspects to cover.

    ``vectors`` are the embeddings of the hypothesis and of the sentences.
    """
    started = perf_counter()
    found: dict[str, Retrieval] = {}
    for task, query, paper in _scored_papers(model, instance, vectors, tasks, None):
        found[task.name] = retrieval_of(model, paper, query, started)
        started = perf_counter()
    return found


def held_out_picks(
    model: RankerModel,
    instance: Instance,
    vectors: NDArray[np.float32],
    tasks: Sequence[Task],
    features: Features | None = None,
) -> dict[str, tuple[int, ...]]:
    """The selections alone; ``features`` where they are known from another model."""
    found: dict[str, tuple[int, ...]] = {}
    for task, query, paper in _scored_papers(model, instance, vectors, tasks, features):
        picks = picks_of(paper.scored.scores, paper.features.similarities, query.budget, model.selecting)
        found[task.name] = tuple(pick.sentence for pick in picks[: query.budget])
    return found


def _scored_papers(
    model: RankerModel,
    instance: Instance,
    vectors: NDArray[np.float32],
    tasks: Sequence[Task],
    features: Features | None,
) -> Iterator[tuple[Task, Query, ScoredPaper]]:
    """The paper, scored once for a focus, with the query of each task."""
    papers: dict[Focus, ScoredPaper] = {}
    for task in tasks:
        if instance.evidence.optimal_for(task.focus) is None:
            continue
        query = query_of(instance, task.focus, task.budget_for(instance.evidence))
        if task.focus not in papers:
            features = features_of(query, vectors) if features is None else features
            papers[task.focus] = scored_paper(model, query, vectors, features)
        yield task, query, papers[task.focus]
