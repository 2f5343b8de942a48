"""Training a ranker as a job, and measuring what it goes by as another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.app import resources
from components.app.jobs import Job
from components.app.loading import download_datasets
from evidencebench_core.data import DATASETS, DatasetInfo, Store
from evidencebench_core.data.model import Focus
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, query_of
from evidencebench_core.retrievers.ranker.model_file import trained_model
from evidencebench_core.retrievers.ranker.weighing import feature_weighing
from evidencebench_core.runs import RANKER, Step, drive, embedded_papers, train_ranker
from evidencebench_core.words import quantity

TRAIN: Final = "train"
WEIGH: Final = "weigh"
_WEIGHED_ON: Final = 20  # papers


def start_training(dataset: str) -> Job:
    """Train a ranker on a dataset of the store, and cross-validate it, in the background."""
    store = resources.store()
    return resources.jobs().start(
        TRAIN, "model", f"Train evidence-ranker on {dataset}", lambda job: _train(store, dataset, job)
    )


def start_download_and_training(name: str, split: str) -> Job:
    """Fetch a released dataset, read it into the store, and train a ranker on it."""
    store = resources.store()

    def work(job: Job) -> str:
        (info, *_) = download_datasets(job, store, name, split)
        return _train(store, info.name, job)

    title = f"Download {name}, {split} ({DATASETS[name].splits[split].licence}), and train evidence-ranker"
    return resources.jobs().start(TRAIN, "model", title, work)


def _train(store: Store, dataset: str, job: Job) -> str:
    """Train as ``evidencebench train-ranker`` does, reported and stoppable; the closing note."""

    def report(step: Step) -> None:
        counted = f": {step.done:,} of {step.total:,} {step.unit}" if step.total else ""
        job.report(step.done, step.total, step.text + counted, stop=True)

    trained = drive(train_ranker(store, dataset), report)
    learnt = f"Trained on {quantity(trained.n_instances, 'instance')}"
    if trained.validation is None:
        return f"{learnt} of one paper, so nothing could be cross-validated."
    scores = ", ".join(
        f"{score.task.title} {100 * score.aspect_recall:.1f}%"
        for score in trained.validation.scores[RANKER].values()
        if score.aspect_recall is not None
    )
    return f"{learnt}. Cross-validated: {scores}. evidence-ranker is ready."


def start_weighing(dataset: DatasetInfo, focus: Focus) -> Job:
    """Measure on up to twenty papers of a dataset what the trained model goes by."""
    store, weighings = resources.store(), resources.weighings()

    def work(job: Job) -> str:
        trained = trained_model()
        if trained is None:
            raise RetrieverError("evidence-ranker", "no longer has a model", "Train one.")
        model, digest = trained
        ids = _one_a_paper(store, dataset)

        def papers() -> Iterator[tuple[Query, NDArray[np.float32]]]:
            embedded = embedded_papers(store, dataset.name, ids, model.encoder)
            for done, (instance, vectors) in enumerate(embedded):
                job.report(done, len(ids), f"{done:,} of {len(ids):,} papers", stop=True)
                yield query_of(instance, focus, None), vectors

        weighing = feature_weighing(model, papers())
        weighings[digest, dataset.sha256, focus] = weighing
        return f"{weighing.n_sentences:,} sentences of {weighing.n_papers:,} papers."

    return resources.jobs().start(
        WEIGH, f"{dataset.name}/{focus}", f"Weigh the features on {dataset.name}", work
    )


def _one_a_paper(store: Store, dataset: DatasetInfo) -> tuple[str, ...]:
    """The first instance of each of so many papers, evenly over the dataset."""
    ids = store.ids(dataset.name)
    step = max(1, len(ids) // (4 * _WEIGHED_ON))
    by_paper: dict[str, str] = {}
    for row in store.rows(dataset.name, ids[::step]):
        by_paper.setdefault(row.paper_id, row.id)
    return tuple(by_paper.values())[:_WEIGHED_ON]
