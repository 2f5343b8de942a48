"""How instances are made: windows, spans and funnels as pure functions, and Evidence Inference as a dataset."""

from evidencebench_core.construction.from_trials import (
    TrialTally,
    aspect_text,
    comparison_hypothesis,
    pool_sha256,
    trial_instances,
)
from evidencebench_core.construction.funnel import DropReason, Funnel, coverage_drop
from evidencebench_core.construction.provenance import provenance_line
from evidencebench_core.construction.spans import QuoteFinder, sentences_in
from evidencebench_core.construction.trials import Prompt, TrialAnswer, Trials, read_trials

__all__ = [
    "DropReason",
    "Funnel",
    "Prompt",
    "QuoteFinder",
    "TrialAnswer",
    "TrialTally",
    "Trials",
    "aspect_text",
    "comparison_hypothesis",
    "coverage_drop",
    "pool_sha256",
    "provenance_line",
    "read_trials",
    "sentences_in",
    "trial_instances",
]
