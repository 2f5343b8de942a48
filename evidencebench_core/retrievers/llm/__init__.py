"""Retrievers that ask a language model, or an embedding model, on an OpenAI-compatible server."""

from __future__ import annotations

from evidencebench_core.retrievers.llm.outcome import OUTCOME_KINDS, OutcomeCounts
from evidencebench_core.retrievers.llm.plan import STRATEGIES
from evidencebench_core.retrievers.llm.records import CallRecord, calls_in, outcome_of, reasons_in
from evidencebench_core.retrievers.llm.rehearsal import ANSWER_TOKENS, Planned
from evidencebench_core.retrievers.llm.session import Session, session_for

__all__ = [
    "ANSWER_TOKENS",
    "OUTCOME_KINDS",
    "STRATEGIES",
    "CallRecord",
    "OutcomeCounts",
    "Planned",
    "Session",
    "calls_in",
    "outcome_of",
    "reasons_in",
    "session_for",
]
