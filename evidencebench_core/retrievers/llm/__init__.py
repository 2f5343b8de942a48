"""Retrievers that ask a language model, or an embedding model, on an OpenAI-compatible server."""

from __future__ import annotations

from evidencebench_core.retrievers.llm.outcome import (
    OUTCOME_KINDS,
    CallRecord,
    OutcomeCounts,
    calls_in,
    outcome_of,
    reasons_in,
)

__all__ = ["OUTCOME_KINDS", "CallRecord", "OutcomeCounts", "calls_in", "outcome_of", "reasons_in"]
