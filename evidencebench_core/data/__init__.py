"""Datasets: what an instance is, how files are read, where they are kept."""

from evidencebench_core.data.downloads import DATASETS, download
from evidencebench_core.data.formats import FORMATS, KEYS, instance_from, read_instances, released_record
from evidencebench_core.data.ingestion import IngestResult, add_instance, ingest
from evidencebench_core.data.model import Aspect, EvidenceSet, Instance, SentenceType
from evidencebench_core.data.store import MARKED_BY_HAND, DatasetInfo, Store, open_store
from evidencebench_core.data.upkeep import delete_dataset, rename_dataset
