"""Stores with given gold and given picks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.retrievers import Retrieval, full_settings
from evidencebench_core.runs import RunSpec, RunStore
from tests.factories import written

__all__ = ["given_run", "given_store"]


def given_store(dataset: Mapping[str, Any], folder: Path, name: str = "given") -> Store:
    """A store with this dataset."""
    store = open_store(folder / "store.sqlite")
    ingest(store, written(dataset, folder / f"{name}.json"), name)
    return store


def given_run(
    store: Store,
    selections: Mapping[str, Sequence[int]],
    task: str,
    retriever: str = "lead",
    **settings: object,
) -> str:
    """Id of a run that picked this, whatever its retriever would have picked."""
    (info,) = store.datasets()
    runs = RunStore(store)
    run = runs.create(RunSpec(info.sha256, retriever, full_settings(retriever, settings)), info)
    for instance_id, picks in selections.items():
        runs.add(run.id, instance_id, {task: Retrieval(tuple(picks), (0.0,) * len(picks), tuple(picks))})
    return run.id
