"""Datasets: what an instance is, how files are read, where they are kept."""

from evidencebench_core.data.downloads import DATASETS, download
from evidencebench_core.data.format import KEYS, check_instance, inverse_of, parse_instance
from evidencebench_core.data.ingestion import IngestResult, add_instance, ingest
from evidencebench_core.data.model import Aspect, EvidenceSet, Instance, SentenceType
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, open_store
from evidencebench_core.data.stream import iter_raw
from evidencebench_core.data.upkeep import delete_dataset, rename_dataset

__all__ = [
    "DATASETS",
    "KEYS",
    "MARKED_BY_HAND",
    "Aspect",
    "DatasetInfo",
    "EvidenceSet",
    "IngestResult",
    "Instance",
    "SentenceType",
    "Store",
    "add_instance",
    "check_instance",
    "delete_dataset",
    "download",
    "ingest",
    "inverse_of",
    "iter_raw",
    "open_store",
    "parse_instance",
    "rename_dataset",
]
