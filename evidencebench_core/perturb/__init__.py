"""Other wordings of a hypothesis: spelling errors, its opposite, paraphrases; plain functions."""

from evidencebench_core.perturb.made_by import MadeBy
from evidencebench_core.perturb.negation import Negated, Refusal, negated
from evidencebench_core.perturb.spelling import Misspelt, misspelt
from evidencebench_core.perturb.variants import (
    Origin,
    hypothesis_variants,
    keep_variants,
    kept_variants,
    variant_origins,
)
from evidencebench_core.perturb.variants_file import (
    NEGATION,
    PARAPHRASE,
    VariantsFile,
    variants_document,
    variants_file,
    variants_from,
)

__all__ = [
    "NEGATION",
    "PARAPHRASE",
    "MadeBy",
    "Misspelt",
    "Negated",
    "Origin",
    "Refusal",
    "VariantsFile",
    "hypothesis_variants",
    "keep_variants",
    "kept_variants",
    "misspelt",
    "negated",
    "variant_origins",
    "variants_document",
    "variants_file",
    "variants_from",
]
