"""Datasets: what an instance is, how files are read, where they are kept."""

from evidencebench_core.data.ingest import IngestResult, ingest
from evidencebench_core.data.model import Aspect, EvidenceSet, Focus, Instance, SentenceType, StoredSelection
from evidencebench_core.data.parse import parse_instance
from evidencebench_core.data.query import Filter
from evidencebench_core.data.store import DatasetInfo, InstanceRow, Store, open_store
from evidencebench_core.data.stream import iter_raw

__all__ = [
    "Aspect",
    "DatasetInfo",
    "EvidenceSet",
    "Filter",
    "Focus",
    "IngestResult",
    "Instance",
    "InstanceRow",
    "SentenceType",
    "Store",
    "StoredSelection",
    "ingest",
    "iter_raw",
    "open_store",
    "parse_instance",
]
