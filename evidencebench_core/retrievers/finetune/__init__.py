"""Embedding models of one's own: trained on (hypothesis, covering sentence, other sentence) triplets."""

from evidencebench_core.retrievers.finetune.fitting import LOSSES, FinetuneSettings, base_encoder, fit_encoder
from evidencebench_core.retrievers.finetune.folder import check_target, save_model
from evidencebench_core.retrievers.finetune.scores import encoder_scores
from evidencebench_core.retrievers.finetune.triplets import NEGATIVES, Triplet, triplets_of

__all__ = [
    "LOSSES",
    "NEGATIVES",
    "FinetuneSettings",
    "Triplet",
    "base_encoder",
    "check_target",
    "encoder_scores",
    "fit_encoder",
    "save_model",
    "triplets_of",
]
