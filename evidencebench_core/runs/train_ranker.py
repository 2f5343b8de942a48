"""Training of `evidence-ranker` on a dataset of the store: cross-validated by paper, then on everything.

Everything that is fitted is fitted inside the fold, on the other folds alone; no setting is tuned while training.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import CROSS_VALIDATED, Retrieval, query_of
from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on
from evidencebench_core.runs.plan import DEFAULT_TASKS
from evidencebench_core.runs.spec import retrieval_spec
from evidencebench_core.runs.step import Step
from evidencebench_core.runs.store import RunStore
from evidencebench_core.runs.trained import keep_trained
from evidencebench_core.tasks import Score, score, task_named

if TYPE_CHECKING:
    from evidencebench_core.retrievers.ranker.model import Ranker
    from evidencebench_core.retrievers.ranker.training import Example

RANKER: Final = "evidence-ranker"
_USUAL_FOLDS: Final = 5
_MOST_SENTENCES: Final = 300_000  # that are held in memory: of a larger dataset papers are drawn

Answers = dict[str, dict[str, Retrieval]]
"""Retrievals by instance id and task name."""


@dataclass(frozen=True, slots=True)
class RankerTraining:
    """A training that is done."""

    dataset: DatasetInfo
    n_instances: int  # learnt from
    path: Path  # the model's folder
    digest: str
    n_folds: int  # of the cross-validation; 0 without one
    scores: Mapping[str, Score]  # by task name, each instance ranked by a model that has not seen its paper
    run_id: str | None  # of the run with the answers of the cross-validation
    seconds: float


def train_ranker(
    store: Store,
    dataset: str,
    *,
    folds: int | None = None,
    encoder: str = "minilm",
    seed: int = 0,
    out: Path | None = None,
) -> Generator[Step, None, RankerTraining]:
    """Cross-validate, train on everything, write the model, and keep the held-out answers as a run.

    Nothing is written before all of it is computed; closing the generator gives it up.

    Parameters
    ----------
    store : Store
    dataset : str
    folds : int, optional
        Of the cross-validation; 0 for none. By default five, or as many as there are papers.
    encoder : str
        The embedding model.
    seed : int
        Of folds and networks, 0 or more.
    out : Path, optional
        The folder of the model; by default the one that ``evidence-ranker`` looks for.

    Raises
    ------
    SettingError
        If the dataset has nothing to learn from, or fewer papers than folds.
    """
    from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
    from evidencebench_core.retrievers.ranker.training import fit_ranker

    began = time.monotonic()
    if seed < 0:
        raise SettingError("seed", f"is {seed}", "Give 0 or more.")
    info = store.dataset(dataset)
    examples = yield from _read_examples(store, info, encoder, seed)
    fold_of = _folds(examples, folds, seed)
    papers = {example.paper_id for example in examples}
    encoder_data = read_trained_on(Path(encoder).expanduser())
    n_seen = len(papers.intersection(encoder_data.paper_ids)) if encoder_data else 0
    if n_seen and fold_of:
        yield Step(
            f"WARNING: the embedding model was trained on {n_seen:,} of these {len(papers):,} papers: "
            "the cross-validated scores are too good."
        )
    answers = yield from _cross_validate(store, info, examples, fold_of, encoder, seed)
    scores = _scores(store, info, answers)
    yield Step(f"Training on {len(examples):,} instances")
    ranker = fit_ranker(examples, encoder, seed)

    ids = tuple(sorted(example.instance_id for example in examples))
    seen_papers = papers.union(encoder_data.paper_ids if encoder_data else ())
    trained_on = TrainedOn(info.sha256, ids, tuple(sorted(seen_papers)), info.name)
    validated = {
        name: {"aspect_recall": one.aspect_recall, "n_scored": one.n_scored} for name, one in scores.items()
    }
    notes = {**ranker.notes, "cross_validated": validated}
    path = out or default_model_path()
    digest = write_model(replace(ranker, trained_on=trained_on, notes=notes), path)
    run_id = None
    if answers:
        runs = RunStore(store)
        spec = retrieval_spec(info.sha256, RANKER, {"model": CROSS_VALIDATED, "weights": digest})
        run_id = runs.create(spec).id
        if encoder_data is not None and n_seen:
            keep_trained(store, run_id, encoder_data)
        runs.add(run_id, answers)
    n_folds, seconds = len(set(fold_of.values())), time.monotonic() - began
    return RankerTraining(info, len(examples), path, digest, n_folds, scores, run_id, seconds)


def _read_examples(
    store: Store, info: DatasetInfo, encoder: str, seed: int
) -> Generator[Step, None, list[Example]]:
    from evidencebench_core.retrievers.encoding import embeddings
    from evidencebench_core.retrievers.ranker.training import example_of

    rows = store.rows(info.name, store.ids(info.name))
    usable = [row for row in rows if row.n_aspects and row.n_sentences]
    if not usable:
        raise SettingError(f"dataset {info.name}", "has no study aspects", "Train on a dataset with gold.")
    if len(usable) < len(rows):
        yield Step(
            f"{len(rows) - len(usable):,} of {len(rows):,} instances left out: without aspects or sentences"
        )
    papers = sorted({row.paper_id for row in usable})
    np.random.default_rng(seed).shuffle(papers)
    share = _MOST_SENTENCES / sum(row.n_sentences for row in usable)
    if share < 1:
        drawn = set(papers[: max(int(share * len(papers)), 1)])
        usable = [row for row in usable if row.paper_id in drawn]
        yield Step(f"The dataset is large: learning from {len(usable):,} of {len(rows):,} instances")
    examples: list[Example] = []
    for instance in store.get_many(info.name, [row.id for row in usable]):
        yield Step("Reading and embedding", len(examples), len(usable), "instances")
        vectors, _ = embeddings(encoder, (instance.hypothesis, *instance.sentences))
        examples.append(example_of(instance, vectors))
    return examples


def _folds(examples: Sequence[Example], folds: int | None, seed: int) -> dict[str, int]:
    """The fold of each instance; empty without cross-validation."""
    from evidencebench_core.retrievers.ranker.training import folds_by_paper

    papers = [example.paper_id for example in examples]
    n_papers = len(set(papers))
    if folds is None:
        folds = min(_USUAL_FOLDS, n_papers) if n_papers > 1 else 0
    if not folds:
        return {}
    if not 2 <= folds <= n_papers:
        remedy = "Give at least 2, and no more than there are papers; or train without: --no-cv."
        raise SettingError("folds", f"is {folds}, with {n_papers} papers", remedy)
    where = folds_by_paper(papers, folds, seed)
    return {example.instance_id: fold for example, fold in zip(examples, where, strict=True)}


def _cross_validate(
    store: Store,
    info: DatasetInfo,
    examples: Sequence[Example],
    fold_of: Mapping[str, int],
    encoder: str,
    seed: int,
) -> Generator[Step, None, Answers]:
    """The answers to every instance, by the model of its fold, which has not seen its paper."""
    from evidencebench_core.retrievers.ranker.training import fit_ranker

    answers: Answers = {}
    n_folds = len(set(fold_of.values()))
    for fold in range(n_folds):
        yield Step(f"Cross-validating by paper in {n_folds} folds", fold, n_folds, "folds")
        seen = [example for example in examples if fold_of[example.instance_id] != fold]
        ranker = fit_ranker(seen, encoder, seed)
        unseen = {
            example.instance_id: example for example in examples if fold_of[example.instance_id] == fold
        }
        for instance in store.get_many(info.name, list(unseen)):
            answers[instance.id] = dict(held_out_answers(ranker, instance, unseen[instance.id]))
    return answers


def held_out_answers(ranker: Ranker, instance: Instance, example: Example) -> Iterator[tuple[str, Retrieval]]:
    """The answer to each default task that has aspects to cover, by its name."""
    from evidencebench_core.retrievers.ranker.retriever import retrieval_of

    for name in DEFAULT_TASKS:
        task = task_named(name)
        if instance.evidence.optimal_for(task.focus) is not None:
            began = time.perf_counter()
            query = query_of(instance, task.focus, task.budget_for(instance.evidence))
            retrieval = retrieval_of(ranker, ranker.scored(query, example.vectors), query)
            yield name, replace(retrieval, seconds=time.perf_counter() - began)


def _scores(store: Store, info: DatasetInfo, answers: Answers) -> dict[str, Score]:
    gold: dict[str, EvidenceSet] = dict(store.evidence_sets(info.name, answers)) if answers else {}
    return {
        name: score(
            task_named(name),
            gold.items(),
            {instance: by_task[name].selection for instance, by_task in answers.items() if name in by_task},
        )
        for name in (DEFAULT_TASKS if answers else ())
    }
