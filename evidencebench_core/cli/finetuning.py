"""An embedding model fine-tuned on gold evidence by sentence-transformers' trainer (the paper's appendix I)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from evidencebench_core.data.model import Instance
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.encoding import TrainedOn, load_encoder
from evidencebench_core.retrievers.settings import Settings


class FinetuneSettings(Settings):
    """What changes what is learnt; the defaults are the paper's, for a smaller machine."""

    model: str = Field("minilm", min_length=1, description="The model to start from.")
    triplets: int = Field(4096, ge=1, description="How many to learn from; the paper has a million.")
    epochs: int = Field(1, ge=1, description="Times that each triplet is seen.")
    batch_size: int = Field(256, ge=1, description="Triplets a step.")
    learning_rate: float = Field(5e-4, gt=0, description="At its peak.")
    margin: float = Field(0.05, ge=0, description="Of the triplet loss, in cosine distance.")
    seed: int = Field(0, ge=0, description="Another seed, other triplets.")


class Triplet(NamedTuple):
    """A hypothesis, a sentence of its paper that covers an aspect, and one that covers none."""

    anchor: str
    positive: str
    negative: str


def triplets_of(instances: Sequence[Instance], n_triplets: int, seed: int = 0) -> list[Triplet]:
    """So many triplets, drawn with replacement: an instance, one of its aspects, one of the aspect's sentences.

    An aspect that half the paper covers does not outweigh the others. Instances without an aspect, or of which every
    sentence covers one, give none.
    """
    usable = []
    for instance in instances:
        aspects = [sorted(sentences) for sentences in instance.evidence.covers("all") if sentences]
        covering = {instance.sentences[index] for sentences in aspects for index in sentences}
        others = [text for text in instance.sentences if text.strip() and text not in covering]
        if aspects and others:
            usable.append((instance, aspects, others))
    rng = np.random.default_rng(seed)
    triplets = []
    for place in rng.integers(len(usable), size=n_triplets) if usable else ():
        instance, aspects, others = usable[place]
        aspect = aspects[rng.integers(len(aspects))]
        positive = instance.sentences[aspect[rng.integers(len(aspect))]]
        triplets.append(Triplet(instance.hypothesis, positive, others[rng.integers(len(others))]))
    return triplets


def finetune_encoder(
    triplets: Sequence[Triplet], settings: FinetuneSettings, trained_on: TrainedOn, folder: Path
) -> None:
    """Train a model on triplets, and write it to a new folder with the record of what it has seen."""
    if not triplets:
        raise SettingError("triplets", "there are none to learn from", "Give a dataset with gold evidence.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError("output", f"{folder} exists already", "Name a new folder.")
    try:
        datasets = import_module("datasets")
        import_module("accelerate")
    except ImportError as error:
        remedy = "Install it: .venv/bin/pip install -c constraints.txt -e '.[finetune]'."
        problem = f"the package {error.name} is not installed"
        raise RetrieverError("finetune-encoder", problem, remedy) from error
    import sentence_transformers as library
    import torch

    losses: Any = import_module("sentence_transformers.sentence_transformer.losses")
    model = load_encoder(settings.model, shared=False)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        arguments = library.SentenceTransformerTrainingArguments(
            output_dir=scratch,
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            weight_decay=0.01,
            warmup_steps=0.1,
            lr_scheduler_type="cosine",
            use_cpu=not torch.accelerator.is_available(),
            seed=settings.seed,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        distance = losses.TripletDistanceMetric.COSINE
        loss = losses.TripletLoss(model, distance_metric=distance, triplet_margin=settings.margin)
        columns = dict(zip(Triplet._fields, zip(*triplets, strict=True), strict=True))
        dataset = datasets.Dataset.from_dict(columns)
        trainer = library.SentenceTransformerTrainer(model, arguments, train_dataset=dataset, loss=loss)
        trainer.train()
        part = Path(scratch) / "model"
        model.save(str(part), create_model_card=False)
        trained_on.write(part)
        shutil.copytree(part, folder, dirs_exist_ok=True)
