"""Embedding models of one's own: trained on (hypothesis, covering sentence, other sentence) triplets."""

from evidencebench_core.retrievers.finetune.fitting import FinetuneSettings, fitted
from evidencebench_core.retrievers.finetune.folder import save_model
from evidencebench_core.retrievers.finetune.folds import paper_folds
from evidencebench_core.retrievers.finetune.scores import encoder_scores
from evidencebench_core.retrievers.finetune.trained_on import TrainedOn, read_trained_on, trainings_of
from evidencebench_core.retrievers.finetune.triplets import NEGATIVES, Triplet, triplets_of

__all__ = [
    "NEGATIVES",
    "FinetuneSettings",
    "TrainedOn",
    "Triplet",
    "encoder_scores",
    "fitted",
    "paper_folds",
    "read_trained_on",
    "save_model",
    "trainings_of",
    "triplets_of",
]
