"""The training data behind runs, so that no score on a model's own training data passes for an estimate."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Setting
from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on

if TYPE_CHECKING:
    from evidencebench_core.runs.spec import RunInfo

_SEEN = """FROM trained_on JOIN runs ON runs.id = trained_on.run_id
    JOIN datasets ON datasets.id = runs.dataset_id JOIN instances ON instances.dataset_id = datasets.id
    WHERE trained_on.run_id = ?
    AND (instances.paper_id IN (SELECT value FROM json_each(trained_on.paper_ids))
         OR (trained_on.dataset_sha256 = datasets.sha256
             AND instances.instance_id IN (SELECT value FROM json_each(trained_on.instance_ids))))"""


def training_behind(retriever: object, settings: Mapping[str, Setting]) -> list[TrainedOn]:
    """The training data of the models in a retriever."""
    data: list[TrainedOn | None] = [getattr(retriever, "trained_on", None)]
    for key, value in settings.items():
        member, _, name = key.rpartition(".")
        if not isinstance(value, str) or name not in ("model", "encoder"):
            continue
        if member != "evidence-ranker":
            data.append(read_trained_on(Path(value).expanduser()))
            continue
        from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model

        try:
            data.append(read_model(model_folder(value))[0].trained_on)
        except RetrieverError:
            continue
    return [trained for trained in data if trained is not None]


def keep_trained(store: Store, run_id: str, *models: TrainedOn) -> None:
    """Remember what the models behind a run have learnt from."""
    rows = [
        (run_id, model.dataset_sha256, json.dumps(model.instance_ids), json.dumps(model.paper_ids))
        for model in models
    ]
    with store.write() as db:
        db.execute("DELETE FROM trained_on WHERE run_id = ?", (run_id,))
        db.executemany("INSERT INTO trained_on VALUES (?, ?, ?, ?)", rows)


def n_trained_on(db: sqlite3.Connection, run_id: str) -> int:
    """How many instances of a run's dataset its models have learnt from; see `trained_on_ids`."""
    return int(db.execute(f"SELECT count(DISTINCT instances.id) {_SEEN}", (run_id,)).fetchone()[0])


def trained_on_ids(store: Store, run: RunInfo) -> frozenset[str]:
    """The instances of a run's dataset that its models have learnt from.

    An instance counts if it was in the training data under its id, or another one on the same paper was.
    Answers of cross-validation do not count: none came from a model that had seen the paper.
    """
    with store.read() as db:
        rows = db.execute(f"SELECT DISTINCT instances.instance_id {_SEEN}", (run.id,))
        return frozenset(instance_id for (instance_id,) in rows)
