"""The retriever that asks a language model on an OpenAI-compatible server."""

from __future__ import annotations

from evidencebench_core.retrievers.llm.outcome import (
    OUTCOME_FLAGS,
    OUTCOME_KINDS,
    CallRecord,
    calls_in,
    counts_text,
    outcome_of,
    reasons_in,
)
