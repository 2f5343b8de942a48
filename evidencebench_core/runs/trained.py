"""The training data of models, so that no score on their own training data passes for an estimate."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evidencebench_core.data.records import now
from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import CROSS_VALIDATED, Setting
from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on

if TYPE_CHECKING:
    from evidencebench_core.runs.spec import RunInfo

_SEEN = """
    FROM instances, datasets, trained_models
    WHERE datasets.name = ? AND instances.dataset_id = datasets.id AND trained_models.digest IN ({})
    AND (instances.paper_id IN (SELECT value FROM json_each(trained_models.paper_ids))
         OR (trained_models.dataset_sha256 = datasets.sha256
             AND instances.instance_id IN (SELECT value FROM json_each(trained_models.instance_ids))))
"""


def training_behind(retriever: object, settings: Mapping[str, Setting]) -> dict[str, TrainedOn]:
    """The training data of the models in a retriever, by the digest of the model, empty for an embedding model."""
    behind: dict[str, TrainedOn] = {}
    if (own := getattr(retriever, "trained_on", None)) is not None:
        behind[str(settings.get("weights") or "")] = own
    for key, value in settings.items():
        member, _, name = key.rpartition(".")
        if not isinstance(value, str) or name not in ("model", "encoder"):
            continue
        if member == "evidence-ranker":
            behind |= _of_ranker(value)
        elif (encoder := read_trained_on(Path(value).expanduser())) is not None:
            behind[""] = encoder
    return behind


def _of_ranker(name: str) -> dict[str, TrainedOn]:
    from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model

    try:
        model, digest = read_model(model_folder(name))
    except RetrieverError:
        return {}
    return {digest: model.trained_on}


def keep_trained(store: Store, digest: str, trained: TrainedOn) -> None:
    """Remember what a model has learnt from; a digest that is known keeps what it has.

    Parameters
    ----------
    store : Store
    digest : str
        Of the model file; for a model without one, the id of the run that uses it.
    trained : TrainedOn
    """
    with store.read() as db:
        if db.execute("SELECT 1 FROM trained_models WHERE digest = ?", (digest,)).fetchone():
            return
    ids, papers = (json.dumps(list(names)) for names in (trained.instance_ids, trained.paper_ids))
    with store.write() as db:
        db.execute(
            "INSERT INTO trained_models (digest, dataset_sha256, instance_ids, paper_ids, trained_at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            (digest, trained.dataset_sha256, ids, papers, now()),
        )


def n_trained_on(db: sqlite3.Connection, run_id: str, dataset: str, settings: Mapping[str, Setting]) -> int:
    """How many instances of a run's dataset its models have learnt from; see `trained_on_ids`."""
    digests = trained_digests(run_id, settings)
    marks = ",".join("?" * len(digests))
    known = db.execute(f"SELECT 1 FROM trained_models WHERE digest IN ({marks}) LIMIT 1", digests).fetchone()
    sql = f"SELECT count(DISTINCT instances.id) {_SEEN.format(marks)}"
    return 0 if known is None else int(db.execute(sql, (dataset, *digests)).fetchone()[0])


def trained_on_ids(store: Store, run: RunInfo) -> frozenset[str]:
    """The instances of a run's dataset that its models have learnt from.

    An instance counts if it was in the training data under its id, or another one on the same paper was.
    Answers of cross-validation do not count: none came from a model that had seen the paper.
    """
    if not run.n_trained_on:
        return frozenset()
    digests = trained_digests(run.id, run.settings)
    sql = f"SELECT DISTINCT instances.instance_id {_SEEN.format(','.join('?' * len(digests)))}"
    with store.read() as db:
        return frozenset(row[0] for row in db.execute(sql, (run.dataset, *digests)))


def trained_digests(run_id: str, settings: Mapping[str, Setting]) -> tuple[str, ...]:
    """The digests under which the training data behind a run is kept."""
    weights = [
        value
        for key, value in settings.items()
        if key.rpartition(".")[2] == "weights"
        and isinstance(value, str)
        and settings.get(f"{key.removesuffix('weights')}model") != CROSS_VALIDATED
    ]
    return (run_id, *weights)
