"""Retrievers that ask a language model, or an embedding model, on an OpenAI-compatible server."""

from __future__ import annotations

from evidencebench_core.retrievers.llm.outcome import (
    LOST,
    OUTCOME_KINDS,
    CallRecord,
    OutcomeCounts,
    calls_in,
    outcome_of,
    reasons_in,
)
from evidencebench_core.retrievers.llm.strategies import STRATEGIES, outdated_prompts

__all__ = [
    "LOST",
    "OUTCOME_KINDS",
    "STRATEGIES",
    "CallRecord",
    "OutcomeCounts",
    "calls_in",
    "outcome_of",
    "outdated_prompts",
    "reasons_in",
]
