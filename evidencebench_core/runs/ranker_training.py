"""Training of `evidence-ranker` on a dataset of the store: cross-validated by paper, then on everything.

Everything that is fitted is fitted inside the fold, on the other folds alone; no setting is tuned while training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import CROSS_VALIDATED, Retrieval, query_of
from evidencebench_core.retrievers.encoding import Encoder, TrainedOn
from evidencebench_core.retrievers.ranker.model import Ranker
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from evidencebench_core.retrievers.ranker.retriever import EvidenceRanker, ranking_of
from evidencebench_core.retrievers.ranker.training import (
    Example,
    examples_of,
    fit_ranker,
    folds_by_paper,
    weighted,
)
from evidencebench_core.runs.execution import Step
from evidencebench_core.runs.model import retrieval_spec
from evidencebench_core.runs.planning import DEFAULT_TASKS
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import task_named

_MOST_SENTENCES: Final = 300_000  # in memory: from a larger dataset papers are drawn


@dataclass(frozen=True, slots=True)
class RankerTraining:
    """The result of a training."""

    n_instances: int  # trained on
    path: Path  # the model's folder
    digest: str
    run_id: str | None  # of the cross-validation: each instance ranked by a model that has not seen its paper


def train_ranker(
    store: Store,
    datasets: Sequence[str],
    *,
    folds: int = 5,
    encoder: str = "minilm",
    seed: int = 0,
    out: Path | None = None,
    report: Callable[[Step], object] = lambda _: None,
) -> RankerTraining:
    """Cross-validate on the first dataset, train on all, write the model, and keep the held-out answers as a run.

    A fold learns from the other folds and from the other datasets, without the papers that it is asked of. Nothing is
    written before all of it is computed; what ``report`` raises gives it up. There are no more ``folds`` than papers;
    0 is no cross-validation. ``out`` is the model's folder, by default the one that ``evidence-ranker`` looks for.
    """
    if seed < 0 or folds < 0 or folds == 1:
        remedy = "Give a seed of 0 or more, and at least 2 folds; or 0 to train only."
        raise SettingError("train-ranker", f"is given the seed {seed} and {folds} folds", remedy)
    infos, runs = tuple(map(store.dataset, dict.fromkeys(datasets))), RunStore(store)
    examples, *others = (_read_examples(store, info, encoder, seed, report) for info in infos)
    beside = weighted(examples, [example for of_dataset in others for example in of_dataset])
    everything = [*examples, *beside]
    paper_ids = [example.instance.paper_id for example in examples]
    n_papers = len(set(paper_ids))
    n_folds = min(folds, n_papers) if n_papers > 1 else 0
    keys = {example.paper_key for example in everything}
    encoder_data = TrainedOn.read(encoder)
    seen_keys = {key for data in encoder_data for key in data.paper_keys}
    if n_folds and keys & seen_keys:
        learnt = f"the embedding model was trained on {len(keys & seen_keys):,} of these {n_papers:,} papers"
        report(Step(f"WARNING: {learnt}: the cross-validated scores are too good."))
    answers: dict[str, dict[str, Retrieval]] = {}  # by instance and task
    fold_of = folds_by_paper(paper_ids, max(n_folds, 1), seed)
    for fold in range(n_folds):
        report(Step(f"Cross-validating by paper in {n_folds} folds", fold, n_folds, "folds"))
        unseen = [example for example, other in zip(examples, fold_of, strict=True) if other == fold]
        unseen_keys = {example.paper_key for example in unseen}
        learnt_from = [example for example in everything if example.paper_key not in unseen_keys]
        ranker = fit_ranker(learnt_from, encoder, seed)
        # Each instance is asked in the words of the dataset, which are those of its first example.
        first = {example.instance.id: example for example in reversed(unseen)}
        answers |= {name: _answers(ranker, example) for name, example in first.items()}
    n_instances = len({example.instance.id for example in everything})
    report(Step(f"Training on {n_instances:,} instances"))
    ranker = fit_ranker(everything, encoder, seed)

    names = " and ".join(info.name for info in infos)
    trained_on = TrainedOn(names, n_instances, tuple(sorted(keys | seen_keys)))
    path = out or default_model_path()
    digest = write_model(replace(ranker, trained_on=trained_on), path)
    run_id = None
    if answers:
        folds_text = f"{n_folds} folds, seed {seed}"
        basis = {"weights": digest, "encoder": ranker.encoder_identity, "folds": folds_text}
        spec = retrieval_spec(infos[0].sha256, EvidenceRanker.name, {"model": CROSS_VALIDATED}, basis)
        run_id = spec.id
        runs.create(spec, *encoder_data, results=answers)
    return RankerTraining(n_instances, path, digest, run_id)


def _read_examples(
    store: Store, info: DatasetInfo, encoder: str, seed: int, report: Callable[[Step], object]
) -> list[Example]:
    rows = store.rows(info, store.ids(info))
    usable = [row for row in rows if row.n_aspects and row.n_sentences]
    if not usable:
        raise SettingError(f"dataset {info.name}", "has no study aspects", "Train on a dataset with gold.")
    papers = sorted({row.paper_id for row in usable})
    np.random.default_rng(seed).shuffle(papers)
    share = _MOST_SENTENCES / sum(row.n_sentences for row in usable)
    drawn = set(papers[: max(int(share * len(papers)), 1)])
    usable = [row for row in usable if row.paper_id in drawn]
    if len(usable) < len(rows):
        n_of = f"{len(usable):,} of {len(rows):,} instances"
        report(Step(f"Learning from {n_of}: those with gold, up to a size"))
    examples: list[Example] = []
    embedding = Encoder(encoder)
    for done, instance in enumerate(store.get_many(info, [row.id for row in usable])):
        report(Step("Reading and embedding", done, len(usable), "instances"))
        examples += examples_of(instance, embedding)
    return examples


def _answers(ranker: Ranker, example: Example) -> dict[str, Retrieval]:
    """The answers by task, for the default tasks that have aspects to cover."""
    answers: dict[str, Retrieval] = {}
    for task in map(task_named, DEFAULT_TASKS):
        if example.instance.evidence.optimal_for(task.focus) is not None:
            query = query_of(example.instance, task)
            answers[task.name] = ranking_of(ranker, query, example.features, example.vectors)
    return answers
