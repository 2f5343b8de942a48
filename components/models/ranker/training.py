"""Training a ranker as a job."""

from __future__ import annotations

from typing import Final

from components.app import resources
from components.app.jobs import Job
from components.app.loading import download_datasets
from evidencebench_core.data import DATASETS, Store
from evidencebench_core.runs import Step, drive, train_ranker
from evidencebench_core.words import quantity

TRAIN: Final = "train"


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
    if not trained.scores:
        return f"{learnt} of one paper, so nothing could be cross-validated."
    scores = ", ".join(
        f"{score.task.title} {100 * score.aspect_recall:.1f}%"
        for score in trained.scores.values()
        if score.aspect_recall is not None
    )
    return f"{learnt}. Cross-validated: {scores}. evidence-ranker is ready."
