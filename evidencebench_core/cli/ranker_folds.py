"""The cross-validation of ``train-ranker``: the ranker and others on the same instances of a dataset."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.output import note, quantity
from evidencebench_core.cli.progress import progress_bar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.data.model import Focus, Instance
    from evidencebench_core.data.store import DatasetInfo, Store
    from evidencebench_core.retrievers import Retrieval, Retriever
    from evidencebench_core.retrievers.ranker.examples import Example, Sampling
    from evidencebench_core.retrievers.ranker.training import Encoder, Training
    from evidencebench_core.runs.trained import Trained
    from evidencebench_core.tasks import Score, Task

__all__ = [
    "RANKER",
    "Selections",
    "Validated",
    "ablated",
    "embedded_papers",
    "examples_of",
    "notes_of",
    "validated",
]

RANKER: Final = "evidence-ranker"
_OTHERS: Final = ("structure", "abstract-tail", "hybrid", "bm25", "dense")
_KEPT_AT_ONCE: Final = 64

Selections = dict[str, dict[str, tuple[int, ...]]]
"""By task name and instance id."""


@dataclass(slots=True)
class Validated:
    """What cross-validation found.

    Attributes
    ----------
    n_folds : int
    tasks : tuple of Task
    fold_of, paper_of : mappings of str to int and to str
        By instance id.
    scores : dict of str to dict of str to Score
        By retriever and task name.
    models : mapping of int to RankerModel
        By the fold that each has not seen.
    answers : dict of str to mapping of str to Retrieval
        The ranker's, by instance id and task name.
    ablation_scores : dict of str to dict of str to Score
        By what is left out, and task name.
    seconds_fitting, seconds_ranking : float
    encoder : Trained or None
        What the embedding model had seen of these papers.
    """

    n_folds: int
    tasks: tuple[Task, ...]
    fold_of: Mapping[str, int]
    paper_of: Mapping[str, str]
    models: Mapping[int, Any]
    scores: dict[str, dict[str, Score]]
    answers: dict[str, Mapping[str, Retrieval]]
    seconds_fitting: float
    seconds_ranking: float
    ablation_scores: dict[str, dict[str, Score]] = field(default_factory=dict)
    encoder: Trained | None = None

    def kept(self, store: Store, info: DatasetInfo, digest: str) -> str:
        """Keep the ranker's answers as a run of their own; its id."""
        from evidencebench_core.retrievers.ranker import CROSS_VALIDATED
        from evidencebench_core.runs import RunSpec, RunStore, keep_trained

        runs = RunStore(store)
        spec = RunSpec(info.sha256, RANKER, {"model": CROSS_VALIDATED, "weights": digest})
        run = runs.create(spec, info)
        if self.encoder is not None:
            keep_trained(store, run.id, self.encoder)
        ids = list(self.answers)
        for start in range(0, len(ids), _KEPT_AT_ONCE):
            runs.add_all(run.id, {name: self.answers[name] for name in ids[start : start + _KEPT_AT_ONCE]})
        return run.id


def embedded_papers(
    store: Store, dataset: str, ids: Iterable[str], encoder: str
) -> Iterator[tuple[Instance, NDArray[np.float32], str]]:
    """Instances one by one, with their embeddings and the identity of the model that made them."""
    from evidencebench_core.retrievers.encoding import embeddings

    for instance in store.get_many(dataset, ids):
        vectors, model = embeddings(encoder, (instance.hypothesis, *instance.sentences))
        yield instance, vectors, model.identity


def examples_of(
    store: Store,
    info: DatasetInfo,
    sampling: Sampling,
    encoder_name: str,
    seed: int,
    told: Callable[[], object],
) -> tuple[list[Example], Encoder]:
    """What a ranker learns from, and the embedding model it was read with; ``told`` hears of each instance.

    Raises
    ------
    SettingError
        If the sample is empty.
    """
    from evidencebench_core.errors import SettingError
    from evidencebench_core.retrievers.ranker.examples import example_of
    from evidencebench_core.retrievers.ranker.training import Encoder

    examples, encoder = [], Encoder(encoder_name, "")
    for instance, vectors, identity in embedded_papers(store, info.name, sampling.instance_ids, encoder_name):
        examples.append(example_of(instance, vectors, sampling.n_rows, seed))
        encoder = Encoder(encoder_name, identity)
        told()
    if not examples:
        raise SettingError(f"dataset {info.name}", "has no study aspects", "Train on a dataset with gold.")
    return examples, encoder


def validated(
    store: Store,
    info: DatasetInfo,
    examples: Sequence[Example],
    encoder: Encoder,
    training: Training,
    n_folds: int,
    baselines: bool = True,
) -> Validated:
    """Cross-validate the ranker by paper, and ask the others for the same instances."""
    from evidencebench_core.retrievers.ranker.crossvalidation import held_out
    from evidencebench_core.retrievers.ranker.examples import folds_by_paper
    from evidencebench_core.runs import DEFAULT_TASKS
    from evidencebench_core.tasks import task_named

    tasks = tuple(task_named(name) for name in DEFAULT_TASKS)
    folds = folds_by_paper(examples, n_folds, training.seed)
    fold_of = {one.instance_id: fold for one, fold in zip(examples, folds, strict=True)}
    began = time.monotonic()
    models = _models(examples, folds, encoder, training, f"Cross-validating, {n_folds} folds by paper")
    fitting = time.monotonic() - began
    others = _others(encoder.name) if baselines else {}
    names = [RANKER, *others]
    selections: dict[str, Selections] = {name: {task.name: {} for task in tasks} for name in names}
    answers: dict[str, Mapping[str, Retrieval]] = {}
    note("Ranking what each model has not seen" + (", and asking the others" if others else ""))
    ranking = 0.0
    with progress_bar(len(examples), "instances") as bar:
        for instance, vectors, _ in embedded_papers(store, info.name, fold_of, encoder.name):
            began = time.monotonic()
            for answer in held_out(models, fold_of, [(instance, vectors)], tasks):
                answers[instance.id] = answer.retrievals
                for name, retrieval in answer.retrievals.items():
                    selections[RANKER][name][instance.id] = retrieval.selection
            ranking += time.monotonic() - began
            for other, retriever in others.items():
                for name, picks in _picks(retriever, instance, tasks).items():
                    selections[other][name][instance.id] = picks
            bar.update()
    gold = dict(store.evidence_sets(info.name, fold_of))
    return Validated(
        n_folds=n_folds,
        tasks=tasks,
        fold_of=fold_of,
        paper_of={one.instance_id: one.paper_id for one in examples},
        models=models,
        scores={name: scores_of(tasks, gold, found) for name, found in selections.items()},
        answers=answers,
        seconds_fitting=fitting,
        seconds_ranking=ranking,
    )


def ablated(
    store: Store,
    info: DatasetInfo,
    examples: Sequence[Example],
    encoder: Encoder,
    training: Training,
    found: Validated,
) -> dict[str, dict[str, Score]]:
    """The scores of the ranker without one part at a time, on the same folds."""
    from evidencebench_core.retrievers.base import query_of
    from evidencebench_core.retrievers.ranker.ablation import ABLATIONS
    from evidencebench_core.retrievers.ranker.crossvalidation import held_out_picks
    from evidencebench_core.retrievers.ranker.examples import unit_vectors
    from evidencebench_core.retrievers.ranker.features import features_of

    folds = [found.fold_of[one.instance_id] for one in examples]
    models: dict[tuple[int, ...], Mapping[int, Any]] = {(): found.models}
    for ablation in ABLATIONS:
        if ablation.without not in models:
            models[ablation.without] = _models(
                examples, folds, encoder, ablation.training(training), ablation.name.capitalize()
            )
    picks: dict[str, Selections] = {one.name: {task.name: {} for task in found.tasks} for one in ABLATIONS}
    note("Ranking without one part at a time")
    with progress_bar(len(examples), "instances") as bar:
        for instance, vectors, _ in embedded_papers(store, info.name, found.fold_of, encoder.name):
            unit = unit_vectors(vectors)
            features = features_of(query_of(instance, "all", None), unit)
            for one in ABLATIONS:
                model = models[one.without][found.fold_of[instance.id]]
                chosen = held_out_picks(
                    model, instance, features, unit, found.tasks, one.weights, one.selecting
                )
                for name, selection in chosen.items():
                    picks[one.name][name][instance.id] = selection
            bar.update()
    gold = dict(store.evidence_sets(info.name, found.fold_of))
    return {name: scores_of(found.tasks, gold, selections) for name, selections in picks.items()}


def scores_of(
    tasks: Sequence[Task], gold: Mapping[str, Any], selections: Mapping[str, Mapping[str, Sequence[int]]]
) -> dict[str, Score]:
    """Scores by task name."""
    from evidencebench_core.tasks import score

    return {task.name: score(task, gold.items(), selections[task.name]) for task in tasks}


def _models(
    examples: Sequence[Example], folds: Sequence[int], encoder: Encoder, training: Training, what: str
) -> Mapping[int, Any]:
    from evidencebench_core.retrievers.ranker.crossvalidation import fold_models

    note(f"{what}: {quantity(len(examples), 'instance')}")
    with progress_bar(len(set(folds)), "folds") as bar:
        return fold_models(examples, folds, encoder, training, bar.update)


def _others(encoder: str) -> dict[str, Retriever]:
    from evidencebench_core.retrievers import make_retriever

    settings: dict[str, dict[str, object]] = {
        "structure": {"encoder": encoder},
        # on the embeddings that the ranker reads, so that no paper is embedded twice
        "dense": {"model": encoder},
        "hybrid": {"dense.model": encoder},
    }
    return {name: make_retriever(name, settings.get(name)) for name in _OTHERS}


def _picks(retriever: Retriever, instance: Instance, tasks: Sequence[Task]) -> dict[str, tuple[int, ...]]:
    """Selections by task: heads of one ranking a focus, of a single one where the focus changes nothing."""
    from evidencebench_core.retrievers.base import query_of

    asked = [task for task in tasks if instance.evidence.optimal_for(task.focus) is not None]
    most = max((task.budget_for(instance.evidence) or 0 for task in asked), default=0)
    rankings: dict[str, tuple[int, ...]] = {}
    found: dict[str, tuple[int, ...]] = {}
    for task in asked:
        focus: Focus = task.focus if retriever.name == "structure" else "all"
        if focus not in rankings:
            rankings[focus] = retriever.retrieve(query_of(instance, focus, most)).ranking
        found[task.name] = rankings[focus][: task.budget_for(instance.evidence)]
    return found


def notes_of(found: Validated | None) -> dict[str, object]:
    """What a model file tells of its cross-validation. JSON values."""
    if found is None:
        return {"cross_validated": None}
    return {
        "folds": found.n_folds,
        "cross_validated": {
            task: {
                "aspect_recall": score.aspect_recall,
                "ci95": None if score.ci95 is None else list(score.ci95),
                "n_scored": score.n_scored,
            }
            for task, score in found.scores[RANKER].items()
        },
    }
