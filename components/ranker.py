"""The ranker in the app: which one is in use, and whether a model has seen a paper."""

from __future__ import annotations

from collections.abc import Mapping

from components import resources
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.data.model import paper_key
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.ranker.model_file import SHIPPED, model_folder, read_model
from evidencebench_core.runs import RunInfo, trained_on_ids


def ranker_text() -> str:
    """What the ranker in use has learnt from, for people; an error's words where it cannot be read."""
    folder = model_folder("default")
    try:
        trained_on = read_model(folder)[0].trained_on
    except RetrieverError as error:
        return str(error)
    origin = "the one that comes with this program" if folder == SHIPPED else "one that was trained here"
    return f"{origin}, learnt from {trained_on.n_instances:,} instances of {trained_on.dataset}"


def has_seen(
    dataset: DatasetInfo, instance: Instance, name: str, settings: Mapping[str, object], run: RunInfo | None
) -> bool:
    """Whether the model of a retriever, or of a run of it, was trained on this very paper."""
    if run is not None:
        return instance.id in trained_on_ids(resources.store(), run)
    key = paper_key(instance.sentences, instance.sentence_types)
    return any(key in trained.paper_keys for trained in make_retriever(name, settings).training)
