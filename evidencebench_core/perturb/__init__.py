"""Other wordings of a hypothesis: spelling errors, its opposite, paraphrases; drafts of a model and their review."""

from evidencebench_core.perturb.drafts import DRAFT_STATES, KINDS, Draft, Drafts, DraftState, Kind
from evidencebench_core.perturb.hypothesis_drafts import HypothesisDrafts
from evidencebench_core.perturb.spelling import Misspelling, misspelling
from evidencebench_core.perturb.wording_files import read_wordings, wordings_document, write_wordings
from evidencebench_core.perturb.wordings import (
    NEGATION,
    PARAPHRASE,
    MadeBy,
    Wording,
    Wordings,
    add_wordings,
    added_wordings,
    hypothesis_variants,
)

__all__ = [
    "DRAFT_STATES",
    "KINDS",
    "NEGATION",
    "PARAPHRASE",
    "Draft",
    "DraftState",
    "Drafts",
    "HypothesisDrafts",
    "Kind",
    "MadeBy",
    "Misspelling",
    "Wording",
    "Wordings",
    "add_wordings",
    "added_wordings",
    "hypothesis_variants",
    "misspelling",
    "read_wordings",
    "wordings_document",
    "write_wordings",
]
