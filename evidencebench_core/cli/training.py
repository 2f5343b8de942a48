"""Verbs that train on the gold of a dataset: ``train-ranker`` and ``finetune-encoder``."""

from __future__ import annotations

from pathlib import Path

from typer import Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import print_steps
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Store, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity


@verb("train-ranker --dataset train")
def train_ranker(
    store: Store,
    dataset: options.Dataset,
    folds: int | None = Option(None, metavar="N", help="of the cross-validation (default: 5)"),
    no_cv: bool = Option(False, "--no-cv", help="train only: nothing is known of how good the model is"),
    encoder: str = Option(
        "minilm", metavar="MODEL", help="minilm, a sentence-transformers folder, or a Hugging Face name"
    ),
    seed: int = Option(0, metavar="N", help="of folds and networks"),
    out: Path | None = Option(
        None, metavar="FOLDER", help="the model (default: where evidence-ranker looks for it)"
    ),
) -> Output:
    """Train evidence-ranker on gold, and cross-validate it."""
    from evidencebench_core.runs import train_ranker as training

    if no_cv and folds is not None:
        raise SettingError("arguments", "--folds is for a cross-validation", "Leave out --no-cv.")
    n_folds = 0 if no_cv else folds
    done = print_steps(training(store, dataset, folds=n_folds, encoder=encoder, seed=seed, out=out))
    document = {
        "dataset": done.dataset.name, "dataset_sha256": done.dataset.sha256, "n_trained_on": done.n_instances,
        "encoder": encoder, "seed": seed, "model": str(done.path), "weights": done.digest,
        "seconds": round(done.seconds, 1), "run": done.run_id, "folds": done.n_folds,
        "cross_validated": {task: score.as_dict() for task, score in done.scores.items()},
    }  # fmt: skip
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
    if not rows:
        return Output(document, notes=notes)
    notes.append(f"The answers of the cross-validation are run {done.run_id}: compare it with others.")
    title = f"Aspect Recall in % on {done.dataset.name}, cross-validated by paper in {done.n_folds} folds"
    return Output(document, {"": rows}, title, notes, ("recall", "95% interval"))


@verb("finetune-encoder --dataset train --out encoder --set triplets=20000")
def finetune_encoder(
    store: Store,
    dataset: options.Dataset,
    out: Path = Option(..., metavar="FOLDER", help="a new folder for the model"),
    settings: options.Settings = None,
) -> Output:
    """Train an embedding model on gold evidence.

    Settings (--set): model, triplets, epochs, batch_size, learning_rate, margin, seed.
    """
    from evidencebench_core.retrievers.finetune import FinetuneSettings, finetune_encoder, triplets_of
    from evidencebench_core.retrievers.trained_on import TrainedOn

    chosen = FinetuneSettings.read("finetune-encoder", options.settings_of(settings))
    info = store.dataset(dataset)
    instances = list(store.get_many(dataset, store.ids(dataset)))
    papers = tuple(sorted({instance.paper_id for instance in instances}))
    ids = tuple(sorted(instance.id for instance in instances))
    triplets = triplets_of(instances, chosen.triplets, chosen.seed)
    note(f"Training on {quantity(len(triplets), 'triplet')} of {quantity(len(instances), 'instance')}")
    finetune_encoder(triplets, chosen, TrainedOn(info.sha256, ids, papers, info.name), out)
    document = {
        "dataset": dataset,
        "dataset_sha256": info.sha256,
        "settings": chosen.values(),
        "model": str(out),
    }
    notes = [
        f"Use it: evidencebench run --dataset OTHER --retriever dense --set model={out}",
        f"It has seen all of {info.name}: its scores on that dataset are no evidence.",
    ]
    return Output(document, title=f"Written to {out}", notes=notes)
