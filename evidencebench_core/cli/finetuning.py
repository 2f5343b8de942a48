"""An embedding model fine-tuned on gold evidence by sentence-transformers' trainer (the paper's appendix I)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from evidencebench_core.data.model import Instance
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.encoding import TrainedOn, load_encoder

TRAINING: Final[dict[str, Any]] = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 256,
    "learning_rate": 5e-4,
}
"""The paper's, for a smaller machine."""

Triplets = dict[str, list[str]]
"""Columns: a hypothesis, a sentence that covers an aspect of it, one that covers none."""


def triplets_of(instances: Sequence[Instance], n_triplets: int, seed: int = 0) -> Triplets:
    """So many triplets, drawn with replacement: an instance, one of its aspects, one of the aspect's sentences.

    An aspect that half the paper covers does not outweigh the others.
    """
    usable = []
    for instance in instances:
        aspects = [sorted(sentences) for sentences in instance.evidence.covers("all") if sentences]
        covering = {instance.sentences[index] for sentences in aspects for index in sentences}
        others = [text for text in instance.sentences if text.strip() and text not in covering]
        if aspects and others:
            usable.append((instance, aspects, others))
    if not usable:
        raise SettingError("the dataset", "has no triplets to learn from", "Give one with gold evidence.")
    rng = np.random.default_rng(seed)
    triplets: Triplets = {"anchor": [], "positive": [], "negative": []}
    for place in rng.integers(len(usable), size=n_triplets):
        instance, aspects, others = usable[place]
        aspect = aspects[rng.integers(len(aspects))]
        triplets["anchor"].append(instance.hypothesis)
        triplets["positive"].append(instance.sentences[aspect[rng.integers(len(aspect))]])
        triplets["negative"].append(others[rng.integers(len(others))])
    return triplets


def finetune_encoder(triplets: Triplets, model: str, seed: int, trained_on: TrainedOn, folder: Path) -> None:
    """Train a model on triplets, and write it to a new folder with the record of what it has seen."""
    try:
        datasets = import_module("datasets")
        import_module("accelerate")
    except ImportError as error:
        remedy = "Install it: .venv/bin/pip install -c constraints.txt -e '.[finetune]'."
        problem = f"needs the package {error.name}, which is not installed"
        raise RetrieverError("finetune-encoder", problem, remedy) from error
    import sentence_transformers as library
    import torch

    losses: Any = import_module("sentence_transformers.sentence_transformer.losses")
    encoder = load_encoder(model, shared=False)
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise SettingError(str(folder), "is there already", "Name a new folder.") from error
    trained_on.write(folder)
    arguments = library.SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        weight_decay=0.01,
        warmup_steps=0.1,
        lr_scheduler_type="cosine",
        use_cpu=not torch.accelerator.is_available(),
        seed=seed,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **TRAINING,
    )
    distance = losses.TripletDistanceMetric.COSINE
    loss = losses.TripletLoss(encoder, distance_metric=distance, triplet_margin=0.05)
    dataset = datasets.Dataset.from_dict(triplets)
    library.SentenceTransformerTrainer(encoder, arguments, train_dataset=dataset, loss=loss).train()
    encoder.save(str(folder), create_model_card=False)
