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


def stump(n_features: int, split: str = "") -> Trees:
    """One tree as LightGBM writes it: a leaf that says 0, or, with a split, ``x0 <= 1`` gives 2, else 5."""
    lines = split or (
        "Tree=0\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nsplit_gain=\nthreshold=\ndecision_type=\nleft_child=\n"
        "right_child=\nleaf_value=0\nleaf_weight=\nleaf_count=1\ninternal_value=\ninternal_weight=\n"
        "internal_count=\nis_linear=0\nshrinkage=1\n\n\n"
    )
    names = " ".join(f"Column_{place}" for place in range(n_features))
    return Trees(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={n_features - 1}\nobjective=regression\nfeature_names={names}\n"
        f"feature_infos={' '.join(['none'] * n_features)}\ntree_sizes={len(lines)}\n\n{lines}end of trees\n",
        n_features,
    )


SPLIT = (
    "Tree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nsplit_gain=1\nthreshold=1\ndecision_type=2\nleft_child=-1\n"
    "right_child=-2\nleaf_value=2 5\nleaf_weight=2 1\nleaf_count=2 1\ninternal_value=3\ninternal_weight=3\n"
    "internal_count=3\nis_linear=0\nshrinkage=1\n\n\n"
)


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
    focus = FocusModel(
        trees={"evidence": stump(len(COLUMNS))},
        features=Linear(weights, np.zeros(len(FEATURES))),
        embedding=Linear(np.zeros(3 * WIDTH), np.zeros(3 * WIDTH)),
        weights={"evidence": 0.0, "features": 1.0, "embedding": 0.0},
    )
    identity = model_named("minilm").identity
    trained_on = TrainedOn(dataset, sha256, ids, tuple(f"paper of {name}" for name in ids))
    return RankerModel(
        "minilm", identity, projection, projection, {"all": focus}, Selecting(), trained_on, notes or {}
    )
