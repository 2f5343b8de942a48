"""Other wordings of a hypothesis: paraphrases, its negation, spelling errors."""

from evidencebench_core.perturb.drafting import Draft, DraftKind, decide, draft_plan, drafts
from evidencebench_core.perturb.spelling import Misspelling, misspelling
from evidencebench_core.perturb.variants import spelling_name, variant_named
from evidencebench_core.perturb.wordings import (
    NEGATION,
    PARAPHRASE,
    Wording,
    add_wordings,
    added_wordings,
    hypothesis_variants,
    read_wordings,
    remove_wording,
    wording_problem,
    wordings_document,
)

__all__ = [
    "NEGATION",
    "PARAPHRASE",
    "Draft",
    "DraftKind",
    "Misspelling",
    "Wording",
    "add_wordings",
    "added_wordings",
    "decide",
    "draft_plan",
    "drafts",
    "hypothesis_variants",
    "misspelling",
    "read_wordings",
    "remove_wording",
    "spelling_name",
    "variant_named",
    "wording_problem",
    "wordings_document",
]
