"""Other wordings of a hypothesis: spelling errors, its opposite, paraphrases; plain functions."""

from evidencebench_core.perturb.negation import Negated, Refusal, negated
from evidencebench_core.perturb.spelling import Misspelt, misspelt
from evidencebench_core.perturb.variants import (
    NEGATION,
    PARAPHRASE,
    hypothesis_variants,
    keep_variants,
    variants_from,
)

__all__ = [
    "NEGATION",
    "PARAPHRASE",
    "Misspelt",
    "Negated",
    "Refusal",
    "hypothesis_variants",
    "keep_variants",
    "misspelt",
    "negated",
    "variants_from",
]
