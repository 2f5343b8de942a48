"""Retrievers: they are given a hypothesis and a paper's sentences, and choose."""

from __future__ import annotations

from evidencebench_core.retrievers.base import Query, Retrieval, Retriever, ServedRetriever, query_of
from evidencebench_core.retrievers.ranker.retriever import CROSS_VALIDATED
from evidencebench_core.retrievers.settings import Setting, SettingField, Settings, fields_of
from evidencebench_core.retrievers.table import (
    IMPORTED,
    RETRIEVERS,
    full_settings,
    is_derived,
    make_retriever,
    named_to_load,
    retriever_entry,
    run_label,
)

__all__ = [
    "CROSS_VALIDATED",
    "IMPORTED",
    "RETRIEVERS",
    "Query",
    "Retrieval",
    "Retriever",
    "ServedRetriever",
    "Setting",
    "SettingField",
    "Settings",
    "fields_of",
    "full_settings",
    "is_derived",
    "make_retriever",
    "named_to_load",
    "query_of",
    "retriever_entry",
    "run_label",
]
