"""Retrievers: they are given a hypothesis and a paper's sentences, and choose."""

from __future__ import annotations

from evidencebench_core.retrievers.base import Query, Retrieval, Retriever, ServedRetriever, Setting, query_of
from evidencebench_core.retrievers.make import (
    full_settings,
    is_derived,
    make_retriever,
    named_to_load,
    retriever_entry,
)
from evidencebench_core.retrievers.settings import SettingField, Settings, fields_of
from evidencebench_core.retrievers.table import CROSS_VALIDATED, IMPORTED, RETRIEVERS, RetrieverEntry

__all__ = [
    "CROSS_VALIDATED",
    "IMPORTED",
    "RETRIEVERS",
    "Query",
    "Retrieval",
    "Retriever",
    "RetrieverEntry",
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
]
