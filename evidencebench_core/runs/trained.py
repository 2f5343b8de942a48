"""The training data of models, so that no score on their own training data passes for an estimate."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Setting

if TYPE_CHECKING:
    from evidencebench_core.runs.store import RunInfo


_MET = """
    FROM instances, datasets, trained_models
    WHERE datasets.name = ? AND instances.dataset_id = datasets.id AND trained_models.digest IN ({})
    AND (instances.paper_id IN (SELECT value FROM json_each(trained_models.paper_ids))
         OR (trained_models.dataset_sha256 = datasets.sha256
             AND instances.instance_id IN (SELECT value FROM json_each(trained_models.instance_ids))))
"""


class Trained(Protocol):
    """The training data of a model; both kinds of trained model bring theirs."""

    @property
    def dataset_sha256(self) -> str: ...

    @property
    def instance_ids(self) -> tuple[str, ...]: ...

    @property
    def paper_ids(self) -> tuple[str, ...]: ...


def training_behind(retriever: object, settings: Mapping[str, Setting]) -> dict[str, Trained]:
    """The training data of the models in a retriever."""
    found: dict[str, Trained] = {}
    own = getattr(retriever, "trained_on", None)
    if own is not None:
        found[str(settings.get("weights") or "")] = own
    for key, value in settings.items():
        member, _, name = key.rpartition(".")
        if not isinstance(value, str) or name not in ("model", "encoder"):
            continue
        if member == "evidence-ranker":
            found |= _ranker(value)
        elif (folder := Path(value).expanduser()).is_dir():
            from evidencebench_core.retrievers.finetune.trained_on import read_trained_on

            encoder = read_trained_on(folder)
            if encoder is not None:
                found[""] = encoder
    return found


def _ranker(name: str) -> dict[str, Trained]:
    from evidencebench_core.retrievers.ranker.model_file import default_model_path, read_model

    try:
        model, digest = read_model(default_model_path() if name == "default" else Path(name).expanduser())
    except RetrieverError:
        return {}
    return {digest: model.trained_on}


def keep_trained(store: Store, digest: str, trained: Trained) -> None:
    """Remember what a model has learnt from; a digest that is known keeps what it has.

    Parameters
    ----------
    store : Store
    digest : str
        Of the model file; for a model without one, the id of the run that uses it.
    trained : Trained
    """
    with store.read() as db:
        if db.execute("SELECT 1 FROM trained_models WHERE digest = ?", (digest,)).fetchone():
            return
    with store.write() as db:
        db.execute(
            "INSERT INTO trained_models (digest, dataset_sha256, instance_ids, paper_ids, trained_at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            (
                digest,
                trained.dataset_sha256,
                json.dumps(list(trained.instance_ids)),
                json.dumps(list(trained.paper_ids)),
                datetime.now(UTC).isoformat(timespec="seconds"),
            ),
        )


def n_trained_on(db: sqlite3.Connection, run_id: str, dataset: str, settings: Mapping[str, Setting]) -> int:
    """How many instances of a run's dataset its models have learnt from; see `trained_on_ids`."""
    digests = _digests(run_id, settings)
    marks = ",".join("?" * len(digests))
    known = db.execute(f"SELECT 1 FROM trained_models WHERE digest IN ({marks}) LIMIT 1", digests).fetchone()
    if known is None:
        return 0
    sql = f"SELECT count(DISTINCT instances.id) {_MET.format(marks)}"
    return int(db.execute(sql, (dataset, *digests)).fetchone()[0])


def trained_on_ids(store: Store, run: RunInfo) -> frozenset[str]:
    """The instances of a run's dataset that its models have learnt from.

    An instance counts if it was in the training data under its id, or another one on the same paper was.
    Answers of cross-validation do not count: none came from a model that had seen the paper.
    """
    digests = _digests(run.id, run.settings)
    sql = f"SELECT DISTINCT instances.instance_id {_MET.format(','.join('?' * len(digests)))}"
    with store.read() as db:
        return frozenset(row[0] for row in db.execute(sql, (run.dataset, *digests)))


def trained_on_overlap(store: Store, run: RunInfo) -> int:
    """How many they are."""
    with store.read() as db:
        return n_trained_on(db, run.id, run.dataset, run.settings)


def _digests(run_id: str, settings: Mapping[str, Setting]) -> tuple[str, ...]:
    return (run_id, *_weights(settings))


def _weights(settings: Mapping[str, Setting]) -> Iterator[str]:
    from evidencebench_core.retrievers.ranker import CROSS_VALIDATED

    for key, value in settings.items():
        member, _, name = key.rpartition(".")
        model = settings.get(f"{member}.model" if member else "model")
        if name == "weights" and isinstance(value, str) and model != CROSS_VALIDATED:
            yield value
