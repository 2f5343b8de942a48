"""Verbs that train on the gold of a dataset: ``train-ranker`` and ``finetune-encoder``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from evidencebench_core.cli.emit import Output, emit, note
from evidencebench_core.cli.frame import Dataset, Json, Settings, StorePath, opened, settings_of, verb
from evidencebench_core.cli.progress import print_steps
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity


@verb()
def train_ranker(
    *,
    dataset: Dataset,
    folds: Annotated[int | None, Option(metavar="N", help="of the cross-validation (default: 5)")] = None,
    no_cv: Annotated[
        bool, Option("--no-cv", help="train only: nothing is known of how good the model is")
    ] = False,
    encoder: Annotated[
        str, Option(metavar="MODEL", help="minilm, a sentence-transformers folder, or a Hugging Face name")
    ] = "minilm",
    seed: Annotated[int, Option(metavar="N", help="of folds and networks")] = 0,
    out: Annotated[
        Path | None, Option(metavar="FOLDER", help="the model (default: where evidence-ranker looks for it)")
    ] = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Train evidence-ranker on gold, and cross-validate it.

    Example: evidencebench train-ranker --dataset train
    """
    from evidencebench_core.runs import train_ranker as training

    if no_cv and folds is not None:
        raise SettingError("arguments", "--folds is for a cross-validation", "Leave out --no-cv.")
    wanted = 0 if no_cv else folds
    done = print_steps(training(opened(store), dataset, folds=wanted, encoder=encoder, seed=seed, out=out))
    document = {
        "dataset": done.dataset.name,
        "dataset_sha256": done.dataset.sha256,
        "n_trained_on": done.n_instances,
        "encoder": encoder,
        "seed": seed,
        "model": str(done.path),
        "weights": done.digest,
        "seconds": round(done.seconds, 1),
        "run": done.run_id,
        "folds": done.n_folds,
        "cross_validated": {task: score.as_dict() for task, score in done.scores.items()},
    }
    rows = [
        {
            "task": score.task.title,
            "recall": score.aspect_recall,
            "95% interval": score.ci95,
            "n": score.n_scored,
        }
        for score in done.scores.values()
    ]
    named = f" --set model={done.path}" if out else ""
    notes = [
        f"Model {done.digest}, {done.seconds:.0f} s: {done.path}",
        f"Use it: evidencebench run --dataset OTHER --retriever evidence-ranker{named}",
        f"It has seen these {quantity(done.n_instances, 'instance')}: its own scores on them are no estimate. "
        "The dataset's terms hold for the model.",
    ]
    if done.run_id:
        notes.insert(1, f"The answers of the cross-validation are run {done.run_id}: compare it with others.")
    title = f"Aspect Recall in % on {done.dataset.name}, cross-validated by paper in {done.n_folds} folds"
    emit(
        Output(
            document,
            {"": rows} if rows else {},
            title=title if rows else "",
            notes=notes,
            percent=("recall", "95% interval"),
        ),
        json,
    )


@verb()
def finetune_encoder(
    *,
    dataset: Dataset,
    out: Annotated[Path, Option(metavar="FOLDER", help="a new folder for the model")],
    set_: Settings = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Train an embedding model on gold evidence.

    Settings (--set): model, triplets, epochs, batch_size, learning_rate, margin, seed.

    Example: evidencebench finetune-encoder --dataset train --out encoder --set triplets=20000
    """
    from evidencebench_core.retrievers.finetune import FinetuneSettings, finetune_encoder, triplets_of
    from evidencebench_core.retrievers.trained_on import TrainedOn

    settings = FinetuneSettings.read("finetune-encoder", settings_of(set_))
    where = opened(store)
    info = where.dataset(dataset)
    instances = list(where.get_many(dataset, where.ids(dataset)))
    papers = tuple(sorted({instance.paper_id for instance in instances}))
    trained_on = TrainedOn(info.sha256, tuple(sorted(one.id for one in instances)), papers, info.name)
    triplets = triplets_of(instances, settings.triplets, settings.seed)
    note(f"Training on {quantity(len(triplets), 'triplet')} of {quantity(len(instances), 'instance')}")
    finetune_encoder(triplets, settings, trained_on, out)
    document = {
        "dataset": dataset,
        "dataset_sha256": info.sha256,
        "settings": settings.values(),
        "model": str(out),
    }
    notes = [
        f"Use it: evidencebench run --dataset OTHER --retriever dense --set model={out}",
        f"It has seen all of {info.name}: its scores on that dataset are no evidence.",
    ]
    emit(Output(document, title=f"Written to {out}", notes=notes), json)
