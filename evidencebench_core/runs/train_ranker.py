"""Training of `evidence-ranker` on a dataset of the store: cross-validated by paper, then on everything."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import Retrieval, Retriever, make_retriever, query_of
from evidencebench_core.retrievers.ranker import CROSS_VALIDATED
from evidencebench_core.runs.plan import DEFAULT_TASKS
from evidencebench_core.runs.spec import RunSpec
from evidencebench_core.runs.step import Step
from evidencebench_core.runs.store import RunStore
from evidencebench_core.runs.trained import Trained, keep_trained
from evidencebench_core.tasks import Score, Task, score, task_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.retrievers.ranker.examples import Example, Sampling
    from evidencebench_core.retrievers.ranker.model import RankerModel
    from evidencebench_core.retrievers.ranker.training import Encoder, Training

RANKER: Final = "evidence-ranker"
_BASELINES: Final = ("structure", "abstract-tail", "hybrid", "bm25", "dense")
_USUAL_FOLDS: Final = 5
_STORED_AT_ONCE: Final = 64

Selections = dict[str, dict[str, tuple[int, ...]]]
"""By task name and instance id."""


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """How good a ranker is on papers that it has not seen.

    Attributes
    ----------
    n_folds : int
    paper_of : mapping of str to str
        By instance id.
    scores : dict of str to dict of str to Score
        By retriever and task name.
    ablation_scores : dict of str to dict of str to Score
        By what is left out, and task name.
    """

    n_folds: int
    paper_of: Mapping[str, str]
    scores: dict[str, dict[str, Score]]
    ablation_scores: dict[str, dict[str, Score]]


@dataclass(frozen=True, slots=True)
class RankerTraining:
    """A training that is done.

    Attributes
    ----------
    dataset : DatasetInfo
    n_instances : int
        Learnt from.
    path : Path
        The model file.
    digest : str
    validation : CrossValidation or None
        ``None`` where none was asked for, or the dataset has one paper.
    run_id : str or None
        The run with the answers of the cross-validation.
    seconds_reading, seconds : float
        Reading and embedding; in all.
    """

    dataset: DatasetInfo
    n_instances: int
    path: Path
    digest: str
    validation: CrossValidation | None
    run_id: str | None
    seconds_reading: float
    seconds: float


def train_ranker(  # noqa: PLR0913 - what the command can be told
    store: Store,
    dataset: str,
    *,
    folds: int | None = None,
    encoder: str = "minilm",
    seed: int = 0,
    out: Path | None = None,
    baselines: bool = False,
    ablation: bool = False,
    other_encoder: str | None = None,
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
        Of folds and trees, 0 or more.
    out : Path, optional
        The model file; by default the one that ``evidence-ranker`` looks for.
    baselines : bool
        Whether to ask other retrievers for the same instances.
    ablation : bool
        Whether to cross-validate without one part at a time, too.
    other_encoder : str, optional
        Another embedding model for the ablation.

    Raises
    ------
    SettingError
        If the dataset has nothing to learn from, or fewer papers than folds.
    """
    from evidencebench_core.retrievers.ranker.crossvalidation import training_set
    from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
    from evidencebench_core.retrievers.ranker.training import Training

    began = time.monotonic()
    if seed < 0:
        raise SettingError("seed", f"is {seed}", "Give 0 or more.")
    info, training = store.dataset(dataset), Training(seed=seed)
    sampling = yield from _sampling(store, info, seed)
    learnt = yield from _examples(store, info, sampling, encoder, seed)
    seconds_reading = time.monotonic() - began
    fold_of = _folds(learnt.examples, folds, seed)
    trained_on = training_set(learnt.examples, info.name, info.sha256)
    seen = _seen_by_encoder(encoder)
    if seen is not None:
        both = len(set(trained_on.paper_ids) & set(seen.paper_ids))
        if both and fold_of:
            yield Step(
                f"WARNING: the embedding model was trained on {both:,} of these "
                f"{len(trained_on.paper_ids):,} papers: the cross-validated scores are too good."
            )
        papers = tuple(sorted({*trained_on.paper_ids, *seen.paper_ids}))
        trained_on = replace(trained_on, paper_ids=papers)
        seen = seen if both else None

    fitting = time.monotonic()
    *models, model = yield from _fit(learnt, fold_of, training, everything=True)
    ranking = time.monotonic()
    validation, answers = None, dict[str, Mapping[str, Retrieval]]()
    if fold_of:
        scores, answers = yield from _held_out(store, info, learnt, fold_of, models, baselines)
        without: dict[str, dict[str, Score]] = {}
        if ablation:
            pace = (ranking - fitting, time.monotonic() - ranking)
            without = yield from _ablate(store, info, learnt, fold_of, models, training, pace)
        if other_encoder is not None:
            others = yield from _examples(store, info, sampling, other_encoder, seed)
            alike = yield from _fit(others, fold_of, training)
            found, _ = yield from _held_out(store, info, others, fold_of, alike, baselines=False)
            without[f"with encoder {other_encoder}"] = found[RANKER]
        validation = CrossValidation(len(models), learnt.paper_of, scores, without)

    path = out or default_model_path()
    digest = write_model(
        replace(model, trained_on=trained_on, notes={**model.notes, **_notes(validation)}), path
    )
    keep_trained(store, digest, trained_on)
    run_id = _run_of(store, info, digest, answers, seen) if fold_of else None
    return RankerTraining(
        info,
        len(learnt.examples),
        path,
        digest,
        validation,
        run_id,
        seconds_reading,
        time.monotonic() - began,
    )


def embedded_papers(
    store: Store, dataset: str, ids: Iterable[str], encoder: str
) -> Iterator[tuple[Instance, NDArray[np.float32], str]]:
    """Instances one by one, with their embeddings and the identity of the model that made them."""
    from evidencebench_core.retrievers.encoding import embeddings

    for instance in store.get_many(dataset, ids):
        vectors, model = embeddings(encoder, (instance.hypothesis, *instance.sentences))
        yield instance, vectors, model.identity


# -- what is learnt from ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Learnt:
    """The examples of a dataset, and the embedding model they were read with."""

    examples: Sequence[Example]
    encoder: Encoder

    @property
    def paper_of(self) -> dict[str, str]:
        """By instance id."""
        return {one.instance_id: one.paper_id for one in self.examples}


def _sampling(store: Store, info: DatasetInfo, seed: int) -> Generator[Step, None, Sampling]:
    """Which instances are learnt from; a step says so if it is not all of everything."""
    from evidencebench_core.retrievers.ranker.examples import sampling_for

    rows = store.rows(info.name, store.ids(info.name))
    with_gold = [row for row in rows if row.n_aspects and row.n_sentences]
    if not with_gold:
        raise SettingError(f"dataset {info.name}", "has no study aspects", "Train on a dataset with gold.")
    if len(with_gold) < len(rows):
        yield Step(
            f"{len(rows) - len(with_gold):,} of {len(rows):,} instances left out: without aspects or sentences"
        )
    sampling = sampling_for(
        {row.id: row.n_sentences for row in with_gold}, {row.id: row.paper_id for row in with_gold}, seed
    )
    if sampling.n_rows is not None:
        yield Step(
            f"The dataset is large: learning from about {sampling.n_rows} sentences each of "
            f"{len(sampling.instance_ids):,} of {len(with_gold):,} instances"
        )
    return sampling


def _examples(
    store: Store, info: DatasetInfo, sampling: Sampling, encoder: str, seed: int
) -> Generator[Step, None, _Learnt]:
    from evidencebench_core.retrievers.ranker.examples import example_of
    from evidencebench_core.retrievers.ranker.training import Encoder

    text, total = "Reading and embedding", len(sampling.instance_ids)
    examples: list[Example] = []
    model = Encoder(encoder, "")
    yield Step(text, 0, total, "instances")
    for instance, vectors, identity in embedded_papers(store, info.name, sampling.instance_ids, encoder):
        model = Encoder(encoder, identity)
        examples.append(example_of(instance, vectors, sampling.n_rows, seed))
        yield Step(text, len(examples), total, "instances")
    return _Learnt(examples, model)


def _folds(examples: Sequence[Example], folds: int | None, seed: int) -> dict[str, int]:
    """The fold of each instance; empty without cross-validation."""
    from evidencebench_core.retrievers.ranker.examples import folds_by_paper

    papers = [one.paper_id for one in examples]
    n_papers = len(set(papers))
    if folds is None:
        folds = min(_USUAL_FOLDS, n_papers) if n_papers > 1 else 0
    if folds and not 2 <= folds <= n_papers:
        raise SettingError(
            "folds",
            f"is {folds}, with {n_papers} papers",
            "Give at least 2, and no more than there are papers; or train without: --no-cv.",
        )
    if not folds:
        return {}
    where = folds_by_paper(papers, folds, seed)
    return {one.instance_id: fold for one, fold in zip(examples, where, strict=True)}


def _seen_by_encoder(encoder: str) -> Trained | None:
    """The training data that an embedding model's folder states."""
    from evidencebench_core.retrievers.finetune.trained_on import read_trained_on

    folder = Path(encoder).expanduser()
    return read_trained_on(folder) if folder.is_dir() else None


# -- cross-validation ------------------------------------------------------------------------------


def _fit(
    learnt: _Learnt, fold_of: Mapping[str, int], training: Training, everything: bool = False
) -> Generator[Step, None, list[RankerModel]]:
    """The model of each fold, fitted without it; and at the end, with ``everything``, one fitted to all."""
    from evidencebench_core.retrievers.ranker.crossvalidation import fit_rankers

    n_folds = len(set(fold_of.values()))
    samples = [
        [one for one in learnt.examples if fold_of[one.instance_id] != fold] for fold in range(n_folds)
    ]
    text = f"Cross-validating by paper in {n_folds} folds" if n_folds else ""
    if everything:
        samples.append(list(learnt.examples))
        text = f"{text}, and training" if text else "Training"
        text += f" on {len(learnt.examples):,} instances"
    if training.without:
        text += f", without {len(training.without)} columns"
    fits = fit_rankers(samples, learnt.encoder, training)
    try:
        done = 0
        while True:
            yield Step(text, done, len(samples), "models")
            done = next(fits)
    except StopIteration as end:
        models: list[RankerModel] = end.value
        return models
    finally:
        fits.close()


def _held_out(
    store: Store,
    info: DatasetInfo,
    learnt: _Learnt,
    fold_of: Mapping[str, int],
    models: Sequence[RankerModel],
    baselines: bool,
) -> Generator[Step, None, tuple[dict[str, dict[str, Score]], dict[str, Mapping[str, Retrieval]]]]:
    """Scores by retriever and task, and the ranker's answers by instance and task.

    Each paper is ranked by the model that has not seen it.
    """
    from evidencebench_core.retrievers.ranker.crossvalidation import held_out_retrievals

    others = _baselines(learnt.encoder.name) if baselines else {}
    selections: dict[str, Selections] = {name: {} for name in (RANKER, *others)}
    answers: dict[str, Mapping[str, Retrieval]] = {}
    text = "Ranking what each model has not seen" + (", and asking the others" if others else "")
    yield Step(text, 0, len(fold_of), "instances")
    for instance, vectors, _ in embedded_papers(store, info.name, fold_of, learnt.encoder.name):
        found = answers[instance.id] = held_out_retrievals(
            models[fold_of[instance.id]], instance, vectors, _tasks()
        )
        _add(selections[RANKER], instance.id, {task: one.selection for task, one in found.items()})
        for name, retriever in others.items():
            _add(selections[name], instance.id, _picks(retriever, instance))
        yield Step(text, len(answers), len(fold_of), "instances")
    return _scores(store, info, fold_of, selections), answers


def _ablate(
    store: Store,
    info: DatasetInfo,
    learnt: _Learnt,
    fold_of: Mapping[str, int],
    models: Sequence[RankerModel],
    training: Training,
    pace: tuple[float, float],
) -> Generator[Step, None, dict[str, dict[str, Score]]]:
    """The scores of the ranker without one part at a time, on the same folds.

    ``pace`` are the seconds that the whole ranker took to be fitted, and to rank.
    """
    from evidencebench_core.retrievers.ranker import crossvalidation
    from evidencebench_core.retrievers.ranker.features import features_of

    refits = crossvalidation.refits()
    minutes = (pace[0] * refits + pace[1] * (refits + 2)) / 60
    yield Step(f"Ablation: {refits} more cross-validations, about {minutes:.0f} min at the pace of this one")
    fits: dict[tuple[int, ...], list[RankerModel]] = {(): list(models)}
    for one in crossvalidation.ABLATIONS:
        if one.without not in fits:
            fits[one.without] = yield from _fit(learnt, fold_of, replace(training, without=one.without))
    rankers = {one.name: [one.of(model) for model in fits[one.without]] for one in crossvalidation.ABLATIONS}
    selections: dict[str, Selections] = {name: {} for name in rankers}
    papers = embedded_papers(store, info.name, fold_of, learnt.encoder.name)
    for done, (instance, vectors, _) in enumerate(papers):
        yield Step("Ranking without one part at a time", done, len(fold_of), "instances")
        features = features_of(query_of(instance, "all", None), vectors)
        for name, by_fold in rankers.items():
            model = by_fold[fold_of[instance.id]]
            picks = crossvalidation.held_out_picks(model, instance, vectors, _tasks(), features)
            _add(selections[name], instance.id, picks)
    return _scores(store, info, fold_of, selections)


def _tasks() -> tuple[Task, ...]:
    return tuple(map(task_named, DEFAULT_TASKS))


def _add(selections: Selections, instance_id: str, picks: Mapping[str, tuple[int, ...]]) -> None:
    for task, selection in picks.items():
        selections.setdefault(task, {})[instance_id] = selection


def _scores(
    store: Store, info: DatasetInfo, ids: Iterable[str], selections: Mapping[str, Selections]
) -> dict[str, dict[str, Score]]:
    gold = dict(store.evidence_sets(info.name, ids))
    return {
        name: {task.name: score(task, gold.items(), found.get(task.name, {})) for task in _tasks()}
        for name, found in selections.items()
    }


def _baselines(encoder: str) -> dict[str, Retriever]:
    """The other retrievers, those with embeddings on the ones that the ranker reads."""
    settings: dict[str, dict[str, object]] = {
        "structure": {"encoder": encoder},
        "dense": {"model": encoder},
        "hybrid": {"dense.model": encoder},
    }
    return {name: make_retriever(name, settings.get(name)) for name in _BASELINES}


def _picks(retriever: Retriever, instance: Instance) -> dict[str, tuple[int, ...]]:
    """Selections by task: heads of one ranking a focus, of a single one where the focus changes nothing."""
    asked = [task for task in _tasks() if instance.evidence.optimal_for(task.focus) is not None]
    most = max((task.budget_for(instance.evidence) or 0 for task in asked), default=0)
    rankings: dict[str, tuple[int, ...]] = {}
    found: dict[str, tuple[int, ...]] = {}
    for task in asked:
        focus = task.focus if retriever.name == "structure" else "all"
        if focus not in rankings:
            rankings[focus] = retriever.retrieve(query_of(instance, focus, most)).ranking
        found[task.name] = rankings[focus][: task.budget_for(instance.evidence)]
    return found


# -- what stays ------------------------------------------------------------------------------------


def _notes(validation: CrossValidation | None) -> dict[str, object]:
    """For the model file. JSON values."""
    if validation is None:
        return {"cross_validated": None}
    return {
        "folds": validation.n_folds,
        "cross_validated": {
            task: {
                "aspect_recall": one.aspect_recall,
                "ci95": None if one.ci95 is None else list(one.ci95),
                "n_scored": one.n_scored,
            }
            for task, one in validation.scores[RANKER].items()
        },
    }


def _run_of(
    store: Store,
    info: DatasetInfo,
    digest: str,
    answers: Mapping[str, Mapping[str, Retrieval]],
    seen_by_encoder: Trained | None,
) -> str:
    """A run with the answers of the cross-validation; its id."""
    runs = RunStore(store)
    run = runs.create(RunSpec(info.sha256, RANKER, {"model": CROSS_VALIDATED, "weights": digest}), info)
    if seen_by_encoder is not None:
        keep_trained(store, run.id, seen_by_encoder)
    ids = list(answers)
    for start in range(0, len(ids), _STORED_AT_ONCE):
        runs.add_all(run.id, {name: answers[name] for name in ids[start : start + _STORED_AT_ONCE]})
    return run.id
