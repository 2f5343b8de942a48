"""Training a ranker as a job, and how much it weighs what as another."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from components.app import resources
from components.app.jobs import Job, JobCancelled, JobContext
from evidencebench_core.cli.ranker_folds import (
    Validated,
    embedded_papers,
    examples_of,
    notes_of,
    scores_of,
)
from evidencebench_core.data import DATASETS, DatasetInfo, Store, download, ingest
from evidencebench_core.data.model import Focus
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import query_of
from evidencebench_core.retrievers.ranker.default import trained_model
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from evidencebench_core.retrievers.ranker.weighing import Weighing, weighed
from evidencebench_core.runs import DEFAULT_TASKS, keep_trained
from evidencebench_core.tasks import task_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.retrievers import Query, Retrieval
    from evidencebench_core.retrievers.ranker.examples import Example
    from evidencebench_core.retrievers.ranker.training import Encoder, Training

__all__ = ["TRAIN", "WEIGH", "start_download_and_training", "start_training", "start_weighing"]

TRAIN: Final = "train"
WEIGH: Final = "weigh"
_FOLDS: Final = 5
_WEIGHED_ON: Final = 20  # papers


def start_training(dataset: str) -> Job:
    """Train a ranker on a dataset of the store, and cross-validate it, in the background."""
    store = resources.store()
    return resources.jobs().start(
        TRAIN, "model", f"Train evidence-ranker on {dataset}", lambda job: _trained(store, dataset, job)
    )


def start_download_and_training(name: str, split: str) -> Job:
    """Fetch a released dataset, read it into the store, and train a ranker on it."""
    store = resources.store()

    def work(job: JobContext) -> str:
        def fetching(done: int, total: int | None) -> None:
            job.report(done, total or 0, f"{done / 1e6:,.1f} MB fetched", stop=True)

        def reading(done: int, total: int, n_instances: int) -> None:
            job.report(done, total, f"{n_instances:,} instances read", stop=True)

        (info, *_) = [
            ingest(store, path, None, reading).dataset for path in download(name, split, progress=fetching)
        ]
        return _trained(store, info.name, job)

    title = f"Download {name}, {split} ({DATASETS[name].splits[split].licence}), and train evidence-ranker"
    return resources.jobs().start(TRAIN, "model", title, work)


# -- training --------------------------------------------------------------------------------------


def _trained(store: Store, dataset: str, job: JobContext) -> str:
    """What ``evidencebench train-ranker`` does, step by step, told and stoppable."""
    from evidencebench_core.retrievers.ranker.crossvalidation import trained_on_these
    from evidencebench_core.retrievers.ranker.training import Training, fitted

    info = store.dataset(dataset)
    training = Training()
    examples, encoder = _examples(store, info, job)
    papers = {one.paper_id for one in examples}
    found = None
    if len(papers) >= 2:
        found = _validated(store, info, examples, encoder, training, min(_FOLDS, len(papers)), job)
    job.report(0, 0, f"Fitting the model to {_instances(len(examples))}", stop=True)
    trained_on = trained_on_these(examples, info.name, info.sha256)
    try:
        model = fitted(examples, encoder, trained_on, training, notes_of(found), job.cancelled)
    except InterruptedError as stopped:
        raise JobCancelled from stopped
    digest = write_model(model, default_model_path())
    keep_trained(store, digest, trained_on)
    if found is None:
        return f"Trained on {_instances(len(examples))} of one paper, so nothing could be cross-validated."
    found.kept(store, info, digest)
    told = ", ".join(
        f"{score.task.title} {100 * score.aspect_recall:.1f}%"
        for score in found.scores["evidence-ranker"].values()
        if score.aspect_recall is not None
    )
    return f"Trained on {_instances(len(examples))}. Cross-validated: {told}. evidence-ranker is ready."


def _examples(store: Store, info: DatasetInfo, job: JobContext) -> tuple[list[Example], Encoder]:
    from evidencebench_core.retrievers.ranker.examples import sampling_for

    rows = [row for row in store.rows(info.name, store.ids(info.name)) if row.n_aspects and row.n_sentences]
    sampling = sampling_for({row.id: row.n_sentences for row in rows}, {row.id: row.paper_id for row in rows})
    done, total = 0, len(sampling.instance_ids)

    def told() -> None:
        nonlocal done
        done += 1
        job.report(done, total, f"{done:,} of {_instances(total)} embedded", stop=True)

    job.report(0, total, "Reading and embedding")
    return examples_of(store, info, sampling, "minilm", 0, told)


def _validated(
    store: Store,
    info: DatasetInfo,
    examples: list[Example],
    encoder: Encoder,
    training: Training,
    n_folds: int,
    job: JobContext,
) -> Validated:
    from evidencebench_core.retrievers.ranker.crossvalidation import fold_models, held_out
    from evidencebench_core.retrievers.ranker.examples import folds_by_paper

    tasks = tuple(task_named(name) for name in DEFAULT_TASKS)
    folds = folds_by_paper(examples, n_folds, training.seed)
    fold_of = {one.instance_id: fold for one, fold in zip(examples, folds, strict=True)}
    done = 0

    def told() -> None:
        nonlocal done
        done += 1
        job.report(done, n_folds, f"Cross-validating: {done} of {n_folds} folds fitted", stop=True)

    job.report(0, n_folds, f"Cross-validating by paper in {n_folds} folds", stop=True)
    models = fold_models(examples, folds, encoder, training, told)
    answers: dict[str, Mapping[str, Retrieval]] = {}
    papers = (paper[:2] for paper in embedded_papers(store, info.name, fold_of, encoder.name))
    for answer in held_out(models, fold_of, papers, tasks):
        answers[answer.instance_id] = answer.retrievals
        job.report(len(answers), len(examples), "Ranking papers that each fold has not seen", stop=True)
    gold = dict(store.evidence_sets(info.name, fold_of))
    selections = {
        task.name: {name: found[task.name].selection for name, found in answers.items() if task.name in found}
        for task in tasks
    }
    return Validated(
        n_folds=n_folds,
        tasks=tasks,
        fold_of=fold_of,
        paper_of={one.instance_id: one.paper_id for one in examples},
        models=models,
        scores={"evidence-ranker": scores_of(tasks, gold, selections)},
        answers=answers,
        seconds_fitting=0.0,
        seconds_ranking=0.0,
    )


def _instances(number: int) -> str:
    return f"{number:,} instance{'' if number == 1 else 's'}"


# -- what weighs how much --------------------------------------------------------------------------


@dataclass(slots=True)
class Weighings:
    """What was measured on this server, by model, dataset and focus; the latest few."""

    _found: dict[tuple[str, str, Focus], Weighing] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, digest: str, dataset: DatasetInfo, focus: Focus) -> Weighing | None:
        return self._found.get((digest, dataset.sha256, focus))

    def put(self, digest: str, dataset: DatasetInfo, focus: Focus, weighing: Weighing) -> None:
        with self._lock:
            kept = dict(list(self._found.items())[-15:])
            self._found = {**kept, (digest, dataset.sha256, focus): weighing}


def start_weighing(dataset: DatasetInfo, focus: Focus) -> Job:
    """Measure on up to twenty papers of a dataset what the trained model goes by."""
    store, weighings = resources.store(), resources.weighings()

    def work(job: JobContext) -> str:
        trained = trained_model()
        if trained is None:
            raise RetrieverError("evidence-ranker", "has no model any more", "Train one.")
        model, digest = trained
        ids = _one_a_paper(store, dataset)

        def papers() -> Iterator[tuple[Query, NDArray[np.float32]]]:
            found = embedded_papers(store, dataset.name, ids, model.encoder)
            for done, (instance, vectors, _) in enumerate(found):
                job.report(done, len(ids), f"{done:,} of {len(ids):,} papers", stop=True)
                yield query_of(instance, focus, None), vectors

        weighing = weighed(model, focus, papers())
        weighings.put(digest, dataset, focus, weighing)
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
