"""Datasets: what an instance is, how files are read, where they are kept."""

from evidencebench_core.data.download import DATASETS, RemoteDataset, RemoteFile, download, download_folder
from evidencebench_core.data.format import KEYS, check_instance, inverse_of, parse_instance
from evidencebench_core.data.ingest import IngestResult, add_instance, dataset_name, ingest
from evidencebench_core.data.model import Aspect, EvidenceSet, Focus, Instance, SentenceType
from evidencebench_core.data.published import published_results
from evidencebench_core.data.query import RANGES, SORTS, Filter
from evidencebench_core.data.removal import (
    dataset_dependents,
    delete_dataset,
    delete_instance,
    rename_dataset,
)
from evidencebench_core.data.sections import section_titles
from evidencebench_core.data.store import (
    MARKED_BY_HAND,
    DatasetInfo,
    InstanceRow,
    Store,
    open_store,
    store_path,
)
from evidencebench_core.data.stream import iter_raw

__all__ = [
    "DATASETS",
    "KEYS",
    "MARKED_BY_HAND",
    "RANGES",
    "SORTS",
    "Aspect",
    "DatasetInfo",
    "EvidenceSet",
    "Filter",
    "Focus",
    "IngestResult",
    "Instance",
    "InstanceRow",
    "RemoteDataset",
    "RemoteFile",
    "SentenceType",
    "Store",
    "add_instance",
    "check_instance",
    "dataset_dependents",
    "dataset_name",
    "delete_dataset",
    "delete_instance",
    "download",
    "download_folder",
    "ingest",
    "inverse_of",
    "iter_raw",
    "open_store",
    "parse_instance",
    "published_results",
    "rename_dataset",
    "section_titles",
    "store_path",
]
