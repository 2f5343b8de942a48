"""A model that anybody can compute by hand: one feature counts, and nothing else."""

from __future__ import annotations

import numpy as np

from evidencebench_core.retrievers.encoding import model_named
from evidencebench_core.retrievers.ranker.features import FEATURES
from evidencebench_core.retrievers.ranker.model import (
    COLUMNS,
    N_TOPICS,
    FocusModel,
    Linear,
    Projection,
    RankerModel,
    Selecting,
    TrainedOn,
)
from evidencebench_core.retrievers.ranker.trees import Trees

WIDTH = 384  # of minilm


def small_model(
    feature: str = "place in paper",
    dataset: str = "tiny",
    sha256: str = "0" * 64,
    ids: tuple[str, ...] = (),
    notes: dict[str, object] | None = None,
) -> RankerModel:
    """One linear weight of 1 on a feature; a tree that gives every row the same; no embedding."""
    weights = np.zeros(len(FEATURES))
    weights[FEATURES.index(feature)] = 1.0
    axes = np.zeros((N_TOPICS, WIDTH), dtype=np.float32)
    projection = Projection(np.zeros(WIDTH, dtype=np.float32), axes)
    node = np.zeros(1, dtype=np.int32)
    tree = Trees(node, node, node, node, np.zeros(1), np.zeros(1), 0)
    focus = FocusModel(
        trees={"evidence": tree},
        features=Linear(weights, np.zeros(len(FEATURES))),
        embedding=Linear(np.zeros(3 * WIDTH), np.zeros(3 * WIDTH)),
        weights={"evidence": 0.0, "features": 1.0, "embedding": 0.0},
    )
    assert len(COLUMNS) == len(FEATURES) + 2 * N_TOPICS
    identity = model_named("minilm").identity
    trained_on = TrainedOn(dataset, sha256, ids, tuple(f"paper of {name}" for name in ids))
    return RankerModel(
        "minilm", identity, projection, projection, {"all": focus}, Selecting(), trained_on, notes or {}
    )
