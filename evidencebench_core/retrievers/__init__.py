"""Retrievers: they are given a hypothesis and a paper's sentences, and rank."""

from evidencebench_core.retrievers.base import (
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    query_of,
    ranking_by_score,
)
from evidencebench_core.retrievers.ranker.retriever import CROSS_VALIDATED
from evidencebench_core.retrievers.settings import Setting, SettingField, Settings, fields_of
from evidencebench_core.retrievers.table import (
    ANNOTATOR,
    ELSEWHERE,
    IMPORTED,
    OFFICIAL,
    OWN,
    RETRIEVERS,
    make_retriever,
    read_settings,
    retriever_entry,
    run_label,
)
