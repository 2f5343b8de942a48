"""Other wordings of a hypothesis: paraphrases, its negation, spelling errors."""

from evidencebench_core.perturb.spelling import misspellings
from evidencebench_core.perturb.wordings import (
    NEGATION,
    PARAPHRASE,
    Wording,
    add_wordings,
    added_wordings,
    hypothesis_variants,
    read_wordings,
    spelling_name,
    spelling_numbers,
    variant_named,
)
