"""Training of `evidence-ranker` on a dataset of the store: cross-validated by paper, then on everything."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import CROSS_VALIDATED, Retrieval
from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on
from evidencebench_core.runs.crossvalidation import (
    RANKER,
    Learnt,
    Scores,
    embedded_papers,
    fit,
    held_out,
)
from evidencebench_core.runs.spec import retrieval_spec
from evidencebench_core.runs.step import Step
from evidencebench_core.runs.store import RunStore
from evidencebench_core.runs.trained import keep_trained

if TYPE_CHECKING:
    from evidencebench_core.retrievers.ranker.examples import Example

_USUAL_FOLDS: Final = 5


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
    """

    n_folds: int
    paper_of: Mapping[str, str]
    scores: Scores


@dataclass(frozen=True, slots=True)
class RankerTraining:
    """A training that is done."""

    dataset: DatasetInfo
    n_instances: int  # learnt from
    path: Path  # of the model file
    digest: str
    validation: CrossValidation | None  # None where none was asked for, or the dataset has one paper
    run_id: str | None  # of the run with the answers of the cross-validation
    seconds_reading: float  # and embedding
    seconds: float  # in all


def train_ranker(
    store: Store,
    dataset: str,
    *,
    folds: int | None = None,
    encoder: str = "minilm",
    seed: int = 0,
    out: Path | None = None,
    baselines: bool = False,
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

    Raises
    ------
    SettingError
        If the dataset has nothing to learn from, or fewer papers than folds.
    """
    from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
    from evidencebench_core.retrievers.ranker.training import Training

    began = time.monotonic()
    if seed < 0:
        raise SettingError("seed", f"is {seed}", "Give 0 or more.")
    info, training = store.dataset(dataset), Training(seed=seed)
    drawn = yield from _drawn(store, info, seed)
    learnt = yield from _learnt(store, info, drawn, encoder, folds, seed)
    seconds_reading = time.monotonic() - began
    papers, seen = set(learnt.paper_of.values()), read_trained_on(Path(encoder).expanduser())
    n_seen = 0 if seen is None else len(papers.intersection(seen.paper_ids))
    if n_seen and learnt.fold_of:
        yield Step(
            f"WARNING: the embedding model was trained on {n_seen:,} of these {len(papers):,} papers: "
            "the cross-validated scores are too good."
        )
    *models, model = yield from fit(learnt, training, everything=True)
    validation, answers = None, dict[str, dict[str, Retrieval]]()
    if learnt.fold_of:
        answers, scores = yield from held_out(learnt, models, baselines)
        validation = CrossValidation(len(models), learnt.paper_of, scores)

    seen_papers = papers.union(seen.paper_ids if seen else ())
    trained_on = TrainedOn(info.sha256, tuple(sorted(learnt.paper_of)), tuple(sorted(seen_papers)), info.name)
    path, notes = out or default_model_path(), {**model.notes, **_notes(validation)}
    digest = write_model(replace(model, trained_on=trained_on, notes=notes), path)
    keep_trained(store, digest, trained_on)
    run_id = None
    if answers:
        spec = retrieval_spec(info.sha256, RANKER, {"model": CROSS_VALIDATED, "weights": digest})
        runs = RunStore(store)
        run_id = runs.create(spec).id
        if seen is not None and n_seen:
            keep_trained(store, run_id, seen)
        runs.add(run_id, answers)
    seconds, n_instances = time.monotonic() - began, len(learnt.examples)
    return RankerTraining(info, n_instances, path, digest, validation, run_id, seconds_reading, seconds)


def _drawn(
    store: Store, info: DatasetInfo, seed: int
) -> Generator[Step, None, tuple[tuple[str, ...], int | None]]:
    """Which instances are learnt from, and how many sentences of each; a step says so if it is not everything."""
    from evidencebench_core.retrievers.ranker.examples import sampling

    rows = store.rows(info.name, store.ids(info.name))
    with_gold = [row for row in rows if row.n_aspects and row.n_sentences]
    if not with_gold:
        raise SettingError(f"dataset {info.name}", "has no study aspects", "Train on a dataset with gold.")
    if len(with_gold) < len(rows):
        yield Step(
            f"{len(rows) - len(with_gold):,} of {len(rows):,} instances left out: without aspects or sentences"
        )
    sizes = {row.id: row.n_sentences for row in with_gold}
    ids, n_rows = sampling(sizes, {row.id: row.paper_id for row in with_gold}, seed)
    if n_rows is not None:
        yield Step(
            f"The dataset is large: learning from about {n_rows} sentences each of "
            f"{len(ids):,} of {len(with_gold):,} instances"
        )
    return ids, n_rows


def _learnt(
    store: Store,
    info: DatasetInfo,
    drawn: tuple[tuple[str, ...], int | None],
    encoder: str,
    folds: int | None,
    seed: int,
) -> Generator[Step, None, Learnt]:
    from evidencebench_core.retrievers.ranker.examples import example_of

    ids, n_rows = drawn
    examples: list[Example] = []
    yield Step("Reading and embedding", 0, len(ids), "instances")
    for instance, vectors in embedded_papers(store, info.name, ids, encoder):
        examples.append(example_of(instance, vectors, n_rows, seed))
        yield Step("Reading and embedding", len(examples), len(ids), "instances")
    return Learnt(store, info.name, examples, encoder, _fold_of(examples, folds, seed))


def _fold_of(examples: Sequence[Example], folds: int | None, seed: int) -> dict[str, int]:
    """The fold of each instance; empty without cross-validation."""
    from evidencebench_core.retrievers.ranker.examples import folds_by_paper

    papers = [one.paper_id for one in examples]
    n_papers = len(set(papers))
    if folds is None:
        folds = min(_USUAL_FOLDS, n_papers) if n_papers > 1 else 0
    if not folds:
        return {}
    if not 2 <= folds <= n_papers:
        remedy = "Give at least 2, and no more than there are papers; or train without: --no-cv."
        raise SettingError("folds", f"is {folds}, with {n_papers} papers", remedy)
    where = folds_by_paper(papers, folds, seed)
    return {one.instance_id: fold for one, fold in zip(examples, where, strict=True)}


def _notes(validation: CrossValidation | None) -> dict[str, object]:
    """For the model file. JSON values."""
    if validation is None:
        return {"cross_validated": None}
    figures = {
        task: {
            "aspect_recall": one.aspect_recall,
            "ci95": None if one.ci95 is None else list(one.ci95),
            "n_scored": one.n_scored,
        }
        for task, one in validation.scores[RANKER].items()
    }
    return {"folds": validation.n_folds, "cross_validated": figures}
